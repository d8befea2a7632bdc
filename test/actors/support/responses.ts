/** Answers that came over the plain tier, their bodies being of no importance. */
import type { FetchResult, Header } from '../../../src/domain/fetching.js';

export function responseOf(
  status: number,
  headers: readonly Header[] = [],
): Extract<FetchResult, { kind: 'response' }> {
  return {
    kind: 'response',
    status,
    statusText: '',
    httpVersion: '1.1',
    headers,
    rawHead: null,
    sentHead: null,
    body: new Uint8Array(5),
    cut: false,
    durationMs: 5,
    remoteAddress: '192.0.2.1',
  };
}
