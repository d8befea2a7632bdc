/**
 * What the practice web answers, as data: status, headers, bytes, and the manner in which they go out.
 *
 * An answer is a function of the URL and of how many times it was asked for before.
 */
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { DateForm } from './dates.js';
import { mix } from './dice.js';
import type { Delivery, Failure } from './faults.js';
import type { PageText } from './pages.js';
import type { PracticeHost, PracticeWeb, Target } from './web.js';

export interface Answer {
  readonly status: number;
  /** Names and values in turn, without the length. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly manner: Manner;
  readonly retryAfterSeconds?: number;
  /** Date and Retry-After are written as the answer goes out: so far ahead, by a clock that is so far off. */
  readonly dated?: { readonly form: DateForm; readonly clockSkewSeconds: number };
  readonly robotsText?: string;
  /** Whoever names it is answered 304. */
  readonly etag?: string;
}

export type Manner =
  | { readonly kind: 'at-once' }
  /** Without a length, in a few chunks. */
  | { readonly kind: 'chunks' }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'drip'; readonly steps: number; readonly stepMs: number }
  /** A whole answer, then the connection is closed without a word. */
  | { readonly kind: 'hang-up' }
  /** Not one byte, then RST. */
  | { readonly kind: 'reset' }
  /** Half of the body, then the connection is closed. */
  | { readonly kind: 'truncation'; readonly framing: 'length' | 'chunks' }
  /** A few bytes now and then, up to the server's bound. */
  | { readonly kind: 'endless' };

const AT_ONCE: Manner = { kind: 'at-once' };
const HTML = ['Content-Type', 'text/html; charset=utf-8'] as const;
const PLAIN = ['Content-Type', 'text/plain; charset=utf-8'] as const;
const CRASH_THE_READER = ['X-Orbweaver-Fault', 'worker-exit'] as const;
const NO_BYTES = Buffer.alloc(0);
const BINARY_BYTES = 4_000;

export interface Answers {
  /** How a URL behaves on its early attempts: an empty list needs no counting. */
  failuresOf(host: PracticeHost, path: string): readonly Failure[];
  /** `attempt` counts from 0. */
  answerTo(host: PracticeHost, path: string, attempt: number): Answer;
}

export function answersOf(web: PracticeWeb, text: PageText, authority: (host: PracticeHost) => string): Answers {
  const urlOf = (target: Target): string => `http://${authority(target.host)}${target.path}`;

  const finalPage = (host: PracticeHost, page: number, delivery: Delivery): Answer => {
    const answer = delivered(text.htmlOf(host, page, delivery.kind === 'big' ? 'big' : 'usual'), delivery);
    return isCrashing(host, page) ? { ...answer, headers: [...answer.headers, ...CRASH_THE_READER] } : answer;
  };

  const isCrashing = (host: PracticeHost, page: number): boolean =>
    web.crashing?.host === host && web.crashing.path === web.pathOf(host, page);

  const finalAnswer = (host: PracticeHost, path: string): Answer => {
    if (path === '/robots.txt') return robotsAnswer(host);
    const resource = web.resolve(host, path);
    if (resource.kind === 'hop') return redirect(resource.status, urlOf(resource.location));
    if (resource.kind === 'unknown') return said(404, 'There is no such page.\n');
    const { page, behaviour } = resource;
    const { final } = behaviour;
    switch (final.kind) {
      case 'page':
        return finalPage(host, page, final.delivery);
      case 'nofollow':
        return finalPage(host, page, { kind: 'plain' });
      case 'empty':
        return { status: 200, headers: HTML, body: NO_BYTES, manner: AT_ONCE };
      case 'binary':
        return { status: 200, headers: ['Content-Type', final.mime], body: noise(web, host, page), manner: AT_ONCE };
      case 'redirect':
      case 'chain':
        return redirect(final.status, urlOf(web.redirectOf(host, page)));
      case 'missing':
        return said(404, 'This page is missing.\n');
      case 'gone':
        return said(410, 'This page is gone for good.\n');
      case 'failing':
        return said(500, 'This page never works.\n');
      case 'endless':
        return { status: 200, headers: HTML, body: NO_BYTES, manner: { kind: 'endless' } };
    }
  };

  const failuresOf = (host: PracticeHost, path: string): readonly Failure[] => {
    if (path === '/robots.txt') return host.robots.failures;
    const resource = web.resolve(host, path);
    return resource.kind === 'page' ? resource.behaviour.failures : [];
  };

  return {
    failuresOf,
    answerTo(host, path, attempt) {
      const failure = failuresOf(host, path)[attempt];
      if (failure === undefined) return finalAnswer(host, path);
      if (failure.kind === 'reset') return { status: 200, headers: [], body: NO_BYTES, manner: failure };
      if (failure.kind === 'truncation')
        return { status: 200, headers: HTML, body: text.htmlOf(host, 0, 'usual'), manner: failure };
      return refusal(failure);
    },
  };
}

function robotsAnswer(host: PracticeHost): Answer {
  const { final } = host.robots;
  if (final.kind === 'refused') return said(final.status, 'No rules here.\n');
  const body = Buffer.from(final.text);
  const etag = `"${createHash('sha1').update(body).digest('base64url').slice(0, 12)}"`;
  return { status: 200, headers: [...PLAIN, 'ETag', etag], body, manner: AT_ONCE, robotsText: final.text, etag };
}

/** The answer to a request with conditions (RFC 9110 §13.1.2). */
export function conditional(answer: Answer, ifNoneMatch: string | undefined): Answer {
  if (answer.etag === undefined || answer.etag !== ifNoneMatch) return answer;
  return { ...answer, status: 304, headers: ['ETag', answer.etag], body: NO_BYTES };
}

function redirect(status: number, location: string): Answer {
  return {
    status,
    headers: [...PLAIN, 'Location', location],
    body: Buffer.from(`Go to ${location}\n`),
    manner: AT_ONCE,
  };
}

function refusal({ status, retryAfterSeconds, retryAfter }: Extract<Failure, { kind: 'status' }>): Answer {
  const plain = said(status, 'Not now.\n');
  if (retryAfter?.form === 'malformed') return { ...plain, headers: [...PLAIN, 'Retry-After', retryAfter.text] };
  if (retryAfterSeconds === null) return plain;
  if (retryAfter !== undefined) return { ...plain, retryAfterSeconds, dated: retryAfter };
  return { ...plain, headers: [...PLAIN, 'Retry-After', String(retryAfterSeconds)], retryAfterSeconds };
}

function said(status: number, sentence: string): Answer {
  return { status, headers: PLAIN, body: Buffer.from(sentence), manner: AT_ONCE };
}

function delivered(html: Buffer, delivery: Delivery): Answer {
  const whole = { status: 200, headers: HTML, body: html, manner: AT_ONCE } as const;
  switch (delivery.kind) {
    case 'plain':
    case 'big':
      return whole;
    case 'gzip':
      return { ...whole, headers: [...HTML, 'Content-Encoding', 'gzip'], body: gzipSync(html, { level: 1 }) };
    case 'brotli':
      return { ...whole, headers: [...HTML, 'Content-Encoding', 'br'], body: brotliFast(html) };
    case 'chunked':
      return { ...whole, manner: { kind: 'chunks' } };
    case 'close':
      return { ...whole, headers: [...HTML, 'Connection', 'close'] };
    case 'wrong-charset':
      return { ...whole, headers: ['Content-Type', 'text/html; charset=windows-1251'] };
    case 'hang-up':
      return { ...whole, manner: { kind: 'hang-up' } };
    case 'slow':
    case 'drip':
      return { ...whole, manner: delivery };
  }
}

function brotliFast(html: Buffer): Buffer {
  return brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

function noise(web: PracticeWeb, host: PracticeHost, page: number): Buffer {
  const bytes = Buffer.allocUnsafe(BINARY_BYTES);
  for (let at = 0; at < BINARY_BYTES; at += 4)
    bytes.writeUInt32LE(mix(web.settings.seed, host.index, page, 3000 + at), at);
  return bytes;
}
