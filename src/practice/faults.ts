/**
 * How a page may behave, and how often each kind is drawn.
 *
 * A page fails on its first attempts, if it fails at all, and is right for ever after: so what a crawl has committed in
 * the end depends neither on its order nor on how often it was killed. What a page finally is never changes. Only
 * leaves of a site's tree may end as something that carries no links, so that nothing hides the pages below them.
 */
import { chance, mix, pick } from './dice.js';
import type { DateForm } from './dates.js';

/** What one early attempt runs into. */
export type Failure =
  | {
      readonly kind: 'status';
      readonly status: 500 | 502 | 503 | 429;
      readonly retryAfterSeconds: number | null;
      /** How Retry-After is written; a number of seconds where this is left out. */
      readonly retryAfter?: RetryAfterForm;
    }
  | { readonly kind: 'reset' }
  | { readonly kind: 'truncation'; readonly framing: 'length' | 'chunks' };

/** A date says when by the server's own clock, which may be wrong; what is malformed says nothing. */
export type RetryAfterForm =
  | { readonly form: DateForm; readonly clockSkewSeconds: number }
  | { readonly form: 'malformed'; readonly text: string };

/** How the bytes of a good page come over the wire. */
export type Delivery =
  | { readonly kind: 'plain' | 'gzip' | 'brotli' | 'chunked' | 'close' | 'hang-up' | 'wrong-charset' | 'big' }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'drip'; readonly steps: number; readonly stepMs: number };

/** What a URL is once its failures are over. */
export type Final =
  | { readonly kind: 'page'; readonly delivery: Delivery }
  /** A good page that every link to it marks `rel=nofollow`. */
  | { readonly kind: 'nofollow' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'binary'; readonly mime: string }
  | { readonly kind: 'redirect'; readonly status: RedirectStatus }
  /** Leads over this many hops, on this host and another in turn, before it arrives. */
  | { readonly kind: 'chain'; readonly status: RedirectStatus; readonly hops: number }
  | { readonly kind: 'missing' | 'gone' | 'failing' | 'endless' };

export type RedirectStatus = 301 | 302 | 307 | 308;

export interface Behaviour {
  /** Attempt n (from 0) meets `failures[n]`; beyond the list the page is what it is. */
  readonly failures: readonly Failure[];
  readonly final: Final;
}

/** Shares of all pages, from 0 to 1. */
export interface Mixture {
  readonly failures: number;
  /** What failing pages run into. */
  readonly failing: readonly (readonly Failure[])[];
  /** Drawn for any page. */
  readonly deliveries: readonly Share<Delivery['kind']>[];
  /** Drawn for leaves first; what remains is an ordinary page. */
  readonly leaves: readonly Share<Final['kind']>[];
}

type Share<T> = readonly [kind: T, share: number];

const PLAIN: Behaviour = { failures: [], final: { kind: 'page', delivery: { kind: 'plain' } } };

export const PLAIN_MIXTURE: Mixture = { failures: 0, failing: [], deliveries: [], leaves: [] };

/** The web on a good day: compressed pages, redirects, dead links, but nothing that needs a second try. */
export const ORDINARY_MIXTURE: Mixture = {
  failures: 0,
  failing: [],
  deliveries: [
    ['gzip', 0.2],
    ['brotli', 0.1],
    ['chunked', 0.1],
  ],
  leaves: [
    ['redirect', 0.04],
    ['missing', 0.03],
    ['gone', 0.01],
    ['binary', 0.02],
    ['nofollow', 0.02],
  ],
};

const FAILURES: readonly (readonly Failure[])[] = [
  [{ kind: 'status', status: 500, retryAfterSeconds: null }],
  [
    { kind: 'status', status: 502, retryAfterSeconds: null },
    { kind: 'status', status: 500, retryAfterSeconds: null },
  ],
  [{ kind: 'status', status: 503, retryAfterSeconds: null }],
  [{ kind: 'status', status: 429, retryAfterSeconds: 1 }],
  [{ kind: 'reset' }],
  [{ kind: 'truncation', framing: 'length' }],
  [{ kind: 'truncation', framing: 'chunks' }],
  [{ kind: 'reset' }, { kind: 'truncation', framing: 'length' }],
];

export const FAULTY_MIXTURE: Mixture = {
  failures: 0.14,
  failing: FAILURES,
  deliveries: [
    ['gzip', 0.1],
    ['brotli', 0.06],
    ['chunked', 0.08],
    ['close', 0.05],
    ['hang-up', 0.04],
    ['wrong-charset', 0.04],
    ['slow', 0.04],
    ['drip', 0.01],
    ['big', 0.01],
  ],
  leaves: [
    ['redirect', 0.06],
    ['chain', 0.03],
    ['missing', 0.04],
    ['gone', 0.02],
    ['empty', 0.02],
    ['binary', 0.03],
    ['nofollow', 0.03],
  ],
};

const HOUR_SECONDS = 3_600;

/** Every way to ask for patience, on a clock that is right, an hour ahead or an hour behind. */
const REFUSALS: readonly (readonly Failure[])[] = [
  [{ kind: 'status', status: 429, retryAfterSeconds: 1 }],
  [{ kind: 'status', status: 503, retryAfterSeconds: 2 }],
  [dated(429, 2, 'fixdate', HOUR_SECONDS)],
  [dated(503, 2, 'fixdate', -HOUR_SECONDS)],
  [dated(503, 5, 'rfc850', HOUR_SECONDS)],
  [dated(429, 2, 'rfc850', -HOUR_SECONDS)],
  [dated(503, 2, 'asctime', HOUR_SECONDS)],
  [dated(429, 6, 'asctime', -HOUR_SECONDS)],
  [dated(503, 6, 'fixdate', 0)],
  [{ kind: 'status', status: 429, retryAfterSeconds: null }],
  [{ kind: 'status', status: 503, retryAfterSeconds: null }],
  [
    { kind: 'status', status: 503, retryAfterSeconds: null },
    { kind: 'status', status: 429, retryAfterSeconds: null },
  ],
  [{ kind: 'status', status: 503, retryAfterSeconds: null, retryAfter: { form: 'malformed', text: 'soon' } }],
  [{ kind: 'status', status: 429, retryAfterSeconds: null, retryAfter: { form: 'malformed', text: '1.5' } }],
  [{ kind: 'status', status: 500, retryAfterSeconds: 1 }],
  [{ kind: 'reset' }],
];

/** Sites that ask for patience in every way there is, and answer slowly now and then; whoever gives it finds all pages. */
export const DEMANDING_MIXTURE: Mixture = {
  failures: 0.08,
  failing: REFUSALS,
  deliveries: [
    ['slow', 0.06],
    ['gzip', 0.1],
    ['chunked', 0.05],
    ['close', 0.05],
  ],
  leaves: [
    ['redirect', 0.04],
    ['missing', 0.03],
  ],
};

function dated(status: 429 | 503, retryAfterSeconds: number, form: DateForm, clockSkewSeconds: number): Failure {
  return { kind: 'status', status, retryAfterSeconds, retryAfter: { form, clockSkewSeconds } };
}

const REDIRECTS: readonly RedirectStatus[] = [301, 302, 307, 308];
const BINARY_MIMES = ['image/png', 'application/pdf', 'application/zip', 'video/mp4'] as const;

/** The behaviour of page `page` of host `host`. */
export function behaviourOf(mixture: Mixture, seed: number, host: number, page: number, isLeaf: boolean): Behaviour {
  if (mixture.failures === 0 && mixture.deliveries.length === 0 && mixture.leaves.length === 0) return PLAIN;
  const failing = chance(seed, host, page, 11) < mixture.failures;
  const kind = isLeaf ? drawn(mixture.leaves, chance(seed, host, page, 12)) : undefined;
  return {
    failures: failing ? pick(mixture.failing, mix(seed, host, page, 13)) : [],
    final: toFinal(kind ?? 'page', drawn(mixture.deliveries, chance(seed, host, page, 14)), mix(seed, host, page, 15)),
  };
}

function drawn<T>(shares: readonly Share<T>[], point: number): T | undefined {
  let edge = 0;
  for (const [kind, share] of shares) {
    edge += share;
    if (point < edge) return kind;
  }
  return undefined;
}

function toFinal(kind: Final['kind'], delivery: Delivery['kind'] | undefined, bits: number): Final {
  switch (kind) {
    case 'page':
      return { kind, delivery: toDelivery(delivery ?? 'plain', bits) };
    case 'binary':
      return { kind, mime: pick(BINARY_MIMES, bits) };
    case 'redirect':
      return { kind, status: pick(REDIRECTS, bits) };
    case 'chain':
      return { kind, status: pick(REDIRECTS, bits), hops: 2 + ((bits >>> 8) % 3) };
    default:
      return { kind };
  }
}

function toDelivery(kind: Delivery['kind'], bits: number): Delivery {
  if (kind === 'slow') return { kind, delayMs: 300 + (bits % 1201) };
  if (kind === 'drip') return { kind, steps: 10, stepMs: 200 + (bits % 101) };
  return { kind };
}
