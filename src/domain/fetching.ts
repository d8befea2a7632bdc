/** A request to one page, and what came of it: what travels between host, fetcher and the HTTP client. */
import type { Origin } from './host.js';
import type { Code } from './outcome.js';
import type { Tier } from './tier.js';

export type Header = readonly [name: string, value: string];

/** An address that passed the guard. */
export interface VettedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Beside its deadline a request may spend so long paused, as bodies in memory have reached their bound. */
export const PAUSED_MS_MAX = 30_000;

export interface FetchRequest {
  readonly url: string;
  /** In which way it is to be fetched. */
  readonly tier: Tier;
  readonly origin: Origin;
  /** The one address that may be connected to. */
  readonly address: VettedAddress;
  /** Whole header list as sent, but for Host and Connection, which the client adds. */
  readonly headers: readonly Header[];
  /** From start to the last byte of the body. */
  readonly deadlineMs: number;
  /** Bytes of body as they come over the wire. */
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
  /** Keep what came before the bound and call it a success (robots.txt is read up to its bound). */
  readonly cutAtBound: boolean;
}

/** A response that was read to its end (or cut at its bound, where the request allows). */
export interface FetchedResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: '1.0' | '1.1' | '2';
  /** In order, as spelled; values read as Latin-1. */
  readonly headers: readonly Header[];
  /** Status line and headers up to the blank line and with it, an octet a character; null where they can't be had. */
  readonly rawHead: string | null;
  /** The request's head, likewise. */
  readonly sentHead: string | null;
  /** As it came: without transfer coding, with content coding. Owns its whole ArrayBuffer, so that it can be transferred. */
  readonly body: Uint8Array;
  readonly cut: boolean;
  readonly durationMs: number;
  /** The address that was in fact connected to. */
  readonly remoteAddress: string;
  /** What a browser has to say beside it; absent on the lower tiers. Its body is the rendered markup, as UTF-8. */
  readonly rendered?: Rendered;
}

/** What a browser made of a page. */
export interface Rendered {
  /** Where it had come to in the end: by redirects, or by what its scripts did. */
  readonly finalUrl: string;
  /** Under which name it asked. */
  readonly userAgent: string;
  /** All that it held for the page's site when it was done. */
  readonly cookies: readonly RenderedCookie[];
}

export interface RenderedCookie {
  readonly name: string;
  readonly value: string;
  /** With or without the dot before it. */
  readonly domain: string;
  readonly path: string;
  /** Wall clock; null: of the session. */
  readonly expiresAtMs: number | null;
}

export interface FetchFailure {
  readonly kind: 'failure';
  readonly code: Extract<
    Code,
    | 'connect_failed'
    | 'connection_reset'
    | 'timeout'
    | 'too_slow'
    | 'too_large'
    | 'header_overflow'
    | 'truncated'
    | 'undecodable'
    | 'bomb'
    | 'protocol_error'
    | 'not_strict_http'
    | 'tls_failed'
    | 'guard_refused'
    | 'unsupported_scheme'
    | 'worker_crashed'
    | 'interrupted'
  >;
  /** For the log and for `why`; no secret. */
  readonly detail: string;
  /** Null where the failure came before it. */
  readonly status: number | null;
  /** As of a response; absent where the failure came before them. */
  readonly headers?: readonly Header[];
  readonly durationMs: number;
  /** The request went out on a connection that had served an earlier one, and no byte of an answer came back. */
  readonly reusedConnection: boolean;
}

/** The browser service let us down: nothing is learned of the host, and none of it is the URL's fault (B1). */
export interface BackendFailure {
  readonly kind: 'backend_failure';
  readonly code: Extract<Code, 'backend_failed' | 'backend_timeout'>;
  /** For the log and for `why`; no secret. */
  readonly detail: string;
  readonly durationMs: number;
}

export type FetchResult = FetchedResponse | FetchFailure | BackendFailure;

/** What a name stands for. */
export type Resolution =
  | {
      readonly kind: 'addresses';
      readonly addresses: readonly VettedAddress[];
      readonly expiresInMs: number;
    }
  | {
      readonly kind: 'refused';
      /** Which address, and which range it is in. */
      readonly detail: string;
      readonly expiresInMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly code: Extract<Code, 'dns_not_found' | 'dns_failed'>;
      readonly detail: string;
      readonly expiresInMs: number;
    };
