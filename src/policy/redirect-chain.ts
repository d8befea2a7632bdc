/**
 * Where a redirect leads within its chain (P6): on to its target, back to the same page with another cookie, or nowhere.
 *
 * Intuition: a URL that is asked for once more in the same way answers in the same way. So a chain comes back to a URL
 * only with cookies that it was not asked for with before; that is how sites look whether cookies are kept.
 *
 * 1. A chain ends: ten hops at most, and one URL at most once and three times more in it.
 * 2. Cookies stay with the origin that gave them. The first change of scheme, host or port drops them for good; what the
 *    next origin sets is its own.
 */
import type { Chain, ChainStep } from '../domain/chain.js';
import { fnv1a, originOf } from '../domain/host.js';
import type { UrlRecord } from '../domain/record.js';
import type { Candidate, UrlKey } from '../domain/url.js';
import { cookieHeader, withSetCookies } from './redirect-cookies.js';

/** Redirects in a row before a chain is given up. */
export const REDIRECTS_MAX = 10;

/** How often one URL is asked for again in one chain. */
export const REPEATS_MAX = 3;

export type Onward =
  /** The target is a candidate; the chain goes with it. */
  | { readonly leads: 'onward'; readonly chain: Chain }
  /** To itself: the record stays queued, with this chain. */
  | { readonly leads: 'back'; readonly chain: Chain }
  | { readonly leads: 'nowhere'; readonly code: 'redirect_limit' | 'redirect_loop' };

type Redirecting = Pick<UrlRecord, 'url' | 'key' | 'hopPath' | 'chain'>;
type Target = Pick<Candidate, 'url' | 'key' | 'origin'>;

/** @param setCookies of the answer: values of its Set-Cookie headers */
export function onwardOf(
  record: Redirecting,
  target: Target,
  setCookies: readonly string[],
  nowWallMs: number,
): Onward {
  const steps = record.chain?.steps ?? [{ key: record.key, cookies: WITHOUT_COOKIES }];
  const isSameOrigin = originOf(new URL(record.url)) === target.origin;
  const before = record.chain === null ? [] : record.chain.cookies;
  const after = before === null ? null : withSetCookies(before, setCookies, record.url, nowWallMs);
  const cookies = after === null || isSameOrigin ? after : [];
  const step: ChainStep = { key: target.key, cookies: printOf(cookieHeader(cookies ?? [], target.url, nowWallMs)) };
  const earlier = steps.filter(({ key }) => key === target.key);
  if (earlier.length > REPEATS_MAX || earlier.some((it) => it.cookies === step.cookies))
    return { leads: 'nowhere', code: 'redirect_loop' };
  if (hopsBefore(record) >= REDIRECTS_MAX) return { leads: 'nowhere', code: 'redirect_limit' };
  const chain: Chain = { steps: [...steps, step], cookies };
  return { leads: target.key === record.key ? 'back' : 'onward', chain };
}

/** Redirects that have led to where a chain stands. */
export function hopsOf({ steps }: Chain): number {
  return steps.length - 1;
}

/** How often a chain has come to the URL that it stands beside. */
export function timesAt({ key, chain }: Pick<UrlRecord, 'key' | 'chain'>): number {
  return chain === null ? 0 : chain.steps.filter((step) => step.key === key).length;
}

/** Whether a chain has been at its last URL before: the registry knows it, and it is to be asked for all the same. */
export function comesBackTo(key: UrlKey, chain: Chain | null): boolean {
  return chain !== null && chain.steps.findIndex((step) => step.key === key) < chain.steps.length - 1;
}

/** The Cookie header that a chain has for the URL that it stands beside; null where it has none. */
export function chainCookieHeader({ url, chain }: Pick<UrlRecord, 'url' | 'chain'>, nowWallMs: number): string | null {
  return cookieHeader(chain?.cookies ?? [], url, nowWallMs);
}

/** A page at the end of a chain stays that far out when it is asked for by itself: an endless one can't grow further. */
function hopsBefore({ hopPath, chain }: Redirecting): number {
  const found = /R*$/.exec(hopPath)?.[0].length ?? 0;
  return chain === null ? found : Math.max(found, hopsOf(chain));
}

const WITHOUT_COOKIES = printOf(null);

function printOf(header: string | null): number {
  return fnv1a(header ?? '');
}
