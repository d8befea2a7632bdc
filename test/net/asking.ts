/** What the trials of the HTTP client share: a client that is closed with its test, a request, and a reading of results. */
import { expect, onTestFinished } from 'vitest';
import type { FetchedResponse, FetchFailure, FetchRequest, FetchResult } from '../../src/domain/fetching.js';
import { guardRules } from '../../src/net/guard.js';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../src/net/http.js';

export const signal: AbortSignal = new AbortController().signal;

export function clientWith(options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = createHttpClient({
    guard: guardRules(['127.0.0.0/8', '::1']),
    socketsMax: 64,
    keepAliveMs: 4000,
    clock: { monotonicMs: () => performance.now() },
    bodyBudgetBytes: 64 * 1024 * 1024,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

export interface Asking extends Partial<FetchRequest> {
  readonly path?: string;
  readonly host?: string;
  readonly scheme?: 'http' | 'https';
}

export function requestTo(server: { readonly port: number }, change: Asking = {}): FetchRequest {
  const { path = '/', host = 'site.test', scheme = 'http', ...fields } = change;
  const origin = `${scheme}://${host}:${server.port}`;
  return {
    url: origin + path,
    tier: 1,
    origin,
    address: { address: '127.0.0.1', family: 4 },
    headers: [['User-Agent', 'test']],
    deadlineMs: 3000,
    bodyBytesMax: 1024 * 1024,
    headerBytesMax: 64 * 1024,
    cutAtBound: false,
    ...fields,
  };
}

export const textOf = (result: FetchResult) => Buffer.from((result as FetchedResponse).body).toString('latin1');

export function response(result: FetchResult): FetchedResponse {
  expect(result).toMatchObject({ kind: 'response' });
  return result as FetchedResponse;
}

export function failure(result: FetchResult): FetchFailure {
  expect(result).toMatchObject({ kind: 'failure' });
  return result as FetchFailure;
}

export const tick = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Nothing escapes what is tried: to be called once in a test file. */
export function expectNothingUncaught(hooks: {
  readonly beforeAll: (act: () => void) => void;
  readonly afterEach: (act: () => void) => void;
  readonly afterAll: (act: () => void) => void;
}): void {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  hooks.beforeAll(() => {
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
  });
  hooks.afterEach(() => expect(uncaught.splice(0)).toEqual([]));
  hooks.afterAll(() => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  });
}
