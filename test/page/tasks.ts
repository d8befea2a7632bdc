/** Parse tasks for tests: a plain 200 that a test changes where it matters. */
import type { ParsedPage, ParseResult, ParseTask } from '../../src/domain/parsing.js';
import type { Header } from '../../src/domain/fetching.js';
import { CHALLENGE_TERMS } from '../support/challenge-terms.js';

export function taskOf(body: string | Uint8Array, changes: Partial<ParseTask> = {}): ParseTask {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  return {
    url: 'http://site.example/dir/page',
    want: 'page',
    status: 200,
    statusText: 'OK',
    httpVersion: '1.1',
    headers: [['Content-Type', 'text/html; charset=utf-8']],
    requestHeaders: [['User-Agent', 'TestBot/1.0 (+https://bot.example/)']],
    rawHead: null,
    sentHead: null,
    remoteAddress: '192.0.2.1',
    body: bytes,
    cut: false,
    fetchedAtMs: Date.UTC(2026, 10, 30, 12, 0, 0, 123),
    decodedBytesMax: 16 * 1024 * 1024,
    linksMax: 5000,
    links: { embeds: true, forms: false, nofollow: 'skip' },
    robotsMeta: { obeyed: true, productToken: 'TestBot' },
    challenge: CHALLENGE_TERMS,
    archive: false,
    metadata: null,
    ...changes,
  };
}

export function html(type = 'text/html; charset=utf-8', ...more: Header[]): Header[] {
  return [['Content-Type', type], ...more];
}

export function parsed(result: ParseResult): ParsedPage {
  if (result.kind !== 'parsed') throw new Error(`not parsed: ${result.code} ${result.detail}`);
  return result;
}

export function pageOf(result: ParseResult) {
  const { page } = parsed(result);
  if (page === null) throw new Error('no page');
  return page;
}
