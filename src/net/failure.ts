/**
 * What broke, in the words of the outcome table.
 *
 * The sockets, the TLS layer and the HTTP parser each have their own names for faults; here they become the few codes
 * that decide about retries and breakers. Where a fault's name alone is ambiguous the point of the exchange tells:
 * the same closed socket is a reset before the header block and a truncated body after it.
 */
import type { FetchFailure } from '../domain/fetching.js';

export type FailureCode = FetchFailure['code'];

export interface Ruling {
  readonly code: FailureCode;
  readonly detail: string;
}

/** A fault that we have named ourselves: refused by the guard, past its deadline, over a bound, interrupted. */
export class Fault extends Error implements Ruling {
  override readonly name = 'Fault';

  constructor(
    readonly code: FailureCode,
    readonly detail: string,
  ) {
    super(detail);
  }
}

/** Errors that a peer or a network causes on an open connection. */
const RESET_CODES: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTCONN',
]);

/** What this machine has run out of: no word about the host, which was never asked. */
const EXHAUSTED_CODES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

/** Messages with which the HTTP client drops a socket for what its peer said, under the code of a dropped socket. */
const PROTOCOL_MESSAGES: ReadonlySet<string> = new Set(['bad response', 'bad upgrade']);

/** What the parser says of a connection that ended inside of a message; it gives its faults no codes. */
const EOF_MESSAGE = 'Invalid EOF state';

/** Whether the HTTP client found the body unlike its Content-Length. */
export function isLengthMismatch(error: Error): boolean {
  return systemCodeOf(error) === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
}

/** How far an answer had come when its connection failed. */
export interface Progress {
  /** Its header block was complete. */
  readonly answered: boolean;
  /** What came first is the beginning of a status line. */
  readonly speaksHttp: boolean;
}

/** Names a fault on an established connection. */
export function rulingOf(error: Error, progress: Progress): Ruling {
  if (error instanceof Fault) return { code: error.code, detail: error.detail };
  return { code: codeOf(error, progress), detail: detailOf(error) };
}

/**
 * Names a fault while connecting.
 * @param handshaking whether TCP was up and the TLS handshake had begun
 */
export function connectFault(error: Error, handshaking: boolean): Fault {
  if (error instanceof Fault) return error;
  if (EXHAUSTED_CODES.has(systemCodeOf(error))) return new Fault('interrupted', detailOf(error));
  const reset = RESET_CODES.has(systemCodeOf(error));
  return new Fault(handshaking && !reset ? 'tls_failed' : 'connect_failed', detailOf(error));
}

function codeOf(error: Error, progress: Progress): FailureCode {
  const { answered } = progress;
  const code = systemCodeOf(error);
  if (RESET_CODES.has(code)) return 'connection_reset';
  if (error.name === 'HTTPParserError')
    return error.message.includes(EOF_MESSAGE) ? cutShort(answered) : misspoken(progress);
  switch (code) {
    case 'UND_ERR_SOCKET':
      return PROTOCOL_MESSAGES.has(error.message) ? 'protocol_error' : cutShort(answered);
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      // The client's parser also says so of any fault in a header block behind a Content-Length.
      return answered ? 'truncated' : misspoken(progress);
    case 'ERR_ASSERTION':
      // The client's parser takes a status below 100 (RFC 9110 §15: it has none) for a fault of its own.
      return misspoken(progress);
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'header_overflow';
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
    case 'UND_ERR_ABORTED':
      return 'interrupted';
    default:
      return /^(?:EPROTO|ERR_TLS_|ERR_SSL_|CERT_)/.test(code) ? 'tls_failed' : 'protocol_error';
  }
}

/** The parser is strict on purpose: what two programs read in two ways is how one answer is smuggled into another. */
function misspoken({ answered, speaksHttp }: Progress): FailureCode {
  return speaksHttp && !answered ? 'not_strict_http' : 'protocol_error';
}

function cutShort(answered: boolean): FailureCode {
  return answered ? 'truncated' : 'connection_reset';
}

function detailOf(error: Error): string {
  const code = systemCodeOf(error);
  if (code === 'ERR_ASSERTION') return 'what came is none of the answers that HTTP has';
  return code === '' || error.message.includes(code) ? error.message : `${code}: ${error.message}`;
}

function systemCodeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : '';
}
