/**
 * The FlareSolverr v1 protocol, as far as it is spoken here: one POST a page, all in JSON.
 *
 * Its names are given, `maxTimeout` in milliseconds and cookies with `expires` in seconds. `headers` and `userAgent` are
 * ours beside it; who does not know them leaves them out.
 */
import { z } from 'zod';

const URL_CHARACTERS_MAX = 8_192;
const COOKIES_MAX = 100;
const SESSION_CHARACTERS_MAX = 100;

const cookie = z.object({
  name: z.string().min(1).max(4_096),
  value: z.string().max(4_096),
  domain: z.string().max(255).optional(),
  path: z.string().max(1_024).optional(),
});

const proxy = z.object({
  url: z
    .url({ protocol: /^(http|https|socks5)$/ })
    .max(URL_CHARACTERS_MAX)
    .refine((url) => !/^\w+:\/\/[^/]*@/.test(url), 'credentials for a proxy are not taken'),
});

export const ASKED = z.discriminatedUnion('cmd', [
  z.object({
    cmd: z.literal('request.get'),
    url: z.url({ protocol: /^https?$/ }).max(URL_CHARACTERS_MAX),
    maxTimeout: z.number().int().min(1_000).max(300_000).default(60_000),
    cookies: z.array(cookie).max(COOKIES_MAX).default([]),
    headers: z.record(z.string().max(100), z.string().max(4_096)).default({}),
    userAgent: z.string().max(1_000).optional(),
    proxy: proxy.optional(),
    session: z.string().max(SESSION_CHARACTERS_MAX).optional(),
    returnOnlyCookies: z.boolean().default(false),
  }),
  z.object({
    cmd: z.literal('sessions.create'),
    session: z.string().min(1).max(SESSION_CHARACTERS_MAX).optional(),
    proxy: proxy.optional(),
  }),
  z.object({ cmd: z.literal('sessions.list') }),
  z.object({ cmd: z.literal('sessions.destroy'), session: z.string().min(1).max(SESSION_CHARACTERS_MAX) }),
]);

export type Asked = z.infer<typeof ASKED>;
export type VisitAsked = Extract<Asked, { cmd: 'request.get' }>;

export interface SolvedCookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; -1: of the session. */
  readonly expires: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: string;
}

export interface Solution {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null where only cookies were asked for. */
  readonly response: string | null;
  readonly cookies: readonly SolvedCookie[];
  readonly userAgent: string;
}

export interface Answer {
  readonly status: 'ok' | 'error';
  readonly message: string;
  readonly startTimestamp: number;
  readonly endTimestamp: number;
  readonly version: string;
  readonly solution?: Solution;
  readonly session?: string;
  readonly sessions?: readonly string[];
}

/** Why a visit led to nothing, in a word that stays and a sentence. */
export class VisitError extends Error {
  constructor(
    readonly code: 'timeout' | 'navigation_failed' | 'guard_refused' | 'browser_gone' | 'busy' | 'given_up' | 'bound',
    message: string,
  ) {
    super(message);
  }
}
