/**
 * The control of a crawl that runs in another process, through the socket in its data directory.
 *
 * Whoever listens there is a crawl of this data directory. Nobody there is no error: the socket is missing, or was left
 * by a process that died.
 */
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  type Control,
  ControlError,
  type DeadQuery,
  type ExcludeWish,
  type HostsQuery,
  type RedriveAsk,
  type RedrivesQuery,
  type SeedWish,
} from './control.js';
import type { ErrorBody } from './server.js';
import { SOCKET_NAME, socketAddress } from './socket.js';

const CONNECT_MS_MAX = 2_000;
/** A hundred thousand seeds take a while. */
const ANSWER_MS_MAX = 120_000;
const ANSWER_BYTES_MAX = 512 * 1024 * 1024;

/** Null when no crawl of this data directory is running. Rejects with ControlError where one may not be reached. */
export async function reachControl(dataDir: string): Promise<Control | null> {
  const path = join(dataDir, SOCKET_NAME);
  if (!existsSync(path)) return null;
  return (await isAnswered(dataDir)) ? new RemoteControl(dataDir) : null;
}

/** One exchange with a running crawl. Rejects with ControlError. */
export async function exchange(
  dataDir: string,
  method: 'GET' | 'POST',
  route: string,
  body?: object,
): Promise<unknown> {
  const address = socketAddress(dataDir);
  try {
    const { status, text } = await send(address.path, method, route, body);
    const value = parse(text, dataDir);
    if (status < 400) return value;
    if (!isErrorBody(value)) throw foreign(dataDir);
    const { code, message, where, advice } = value.error;
    throw new ControlError(code, message, status, where, advice);
  } finally {
    address.release();
  }
}

async function isAnswered(dataDir: string): Promise<boolean> {
  const address = socketAddress(dataDir);
  try {
    return await new Promise<boolean>((resolve, reject) => {
      const socket = connect(address.path);
      socket.setTimeout(CONNECT_MS_MAX, () => socket.destroy(new Error('no answer in time')));
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
        else reject(unreachable(error, dataDir));
      });
    });
  } finally {
    address.release();
  }
}

class RemoteControl implements Control {
  readonly #dataDir: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  status() {
    return this.#get<Control['status']>('/status');
  }

  hosts({ state, limit, after }: HostsQuery) {
    const from = after === null ? '' : `&after=${encodeURIComponent(after)}`;
    return this.#get<Control['hosts']>(`/hosts?state=${state}&limit=${limit}${from}`);
  }

  dead(query: DeadQuery) {
    return this.#get<Control['dead']>(`/dead?${wordsOf(query)}`);
  }

  previewRedrive(query: DeadQuery) {
    return this.#get<Control['previewRedrive']>(`/redrive/preview?${wordsOf(query)}`);
  }

  redrive(wish: RedriveAsk) {
    return this.#post<Control['redrive']>('/redrive', wish);
  }

  redrives(query: RedrivesQuery) {
    return this.#get<Control['redrives']>(`/redrives?${wordsOf(query)}`);
  }

  cancelRedrive(number: number) {
    return this.#post<Control['cancelRedrive']>(`/redrives/${number}/cancel`, {});
  }

  host(name: string) {
    return this.#get<Control['host']>(`/hosts/${encodeURIComponent(name)}`);
  }

  tree() {
    return this.#get<Control['tree']>('/tree');
  }

  why(url: string) {
    return this.#post<Control['why']>('/why', { url });
  }

  pause() {
    return this.#post<Control['pause']>('/pause', {});
  }

  resume() {
    return this.#post<Control['resume']>('/resume', {});
  }

  seed(wish: SeedWish) {
    return this.#post<Control['seed']>('/seed', wish);
  }

  exclude(wish: ExcludeWish) {
    return this.#post<Control['exclude']>('/exclude', wish);
  }

  #get<F extends (...words: never[]) => Promise<unknown>>(route: string): ReturnType<F> {
    return exchange(this.#dataDir, 'GET', route) as ReturnType<F>;
  }

  #post<F extends (...words: never[]) => Promise<unknown>>(route: string, body: object): ReturnType<F> {
    return exchange(this.#dataDir, 'POST', route, body) as ReturnType<F>;
  }
}

/** What is null is not asked about. */
function wordsOf(query: DeadQuery | RedrivesQuery): URLSearchParams {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null) words.set(name, String(value));
  return words;
}

function send(
  socketPath: string,
  method: string,
  path: string,
  body: object | undefined,
): Promise<{ status: number; text: string }> {
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const headers = bytes === null ? {} : { 'content-type': 'application/json', 'content-length': bytes.length };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, headers, agent: false, timeout: ANSWER_MS_MAX }, (answer) => {
      const chunks: Buffer[] = [];
      let length = 0;
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > ANSWER_BYTES_MAX) asked.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
      answer.once('error', (error) => reject(broken(error)));
    });
    asked.once('timeout', () => asked.destroy(new Error(`no answer within ${ANSWER_MS_MAX / 1_000} s`)));
    asked.once('error', (error) => reject(broken(error)));
    asked.end(bytes);
  });
}

function broken(error: Error): ControlError {
  const advice = 'ask again: it may have ended just now';
  return new ControlError('control_broken', `the running crawl did not answer: ${error.message}`, 502, null, advice, {
    cause: error,
  });
}

function unreachable(error: NodeJS.ErrnoException, dataDir: string): ControlError {
  const path = join(dataDir, SOCKET_NAME);
  const advice =
    error.code === 'EACCES' ? 'ask as the user who runs the crawl' : 'see whether the process that runs it still lives';
  return new ControlError(
    'control_unreachable',
    `the running crawl can't be reached: ${error.message}`,
    502,
    path,
    advice,
  );
}

function parse(text: string, dataDir: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw foreign(dataDir);
  }
}

function isErrorBody(value: unknown): value is ErrorBody {
  const error = (value as Partial<ErrorBody> | null)?.error as Partial<ErrorBody['error']> | undefined;
  return typeof error?.code === 'string' && typeof error.message === 'string';
}

function foreign(dataDir: string): ControlError {
  const where = join(dataDir, SOCKET_NAME);
  return new ControlError('control_foreign', 'what listens there does not speak as a crawl does', 502, where);
}
