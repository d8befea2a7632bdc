/**
 * The FlareSolverr v1 protocol, as far as it is spoken here: one POST a page, all in JSON.
 *
 * Its names are given, `maxTimeout` in milliseconds and cookies with `expires` in seconds. `headers`, `userAgent` and
 * `redirects` are ours beside it; who does not know them leaves them out. Redirects that are to be told are answered with
 * 302 and a `location`: whoever asked goes there himself.
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

/** Of the protocol's commands the ones that are understood; `request.post` is none of them, as a crawl sends no forms. */
const COMMANDS = ['request.get', 'sessions.create', 'sessions.list', 'sessions.destroy'] as const;

export const ASKED = z.discriminatedUnion('cmd', [
  z.object({
    cmd: z.literal('request.get'),
    url: z.url({ protocol: /^https?$/ }).max(URL_CHARACTERS_MAX),
    maxTimeout: z.number().int().min(1_000).max(300_000).default(60_000),
    cookies: z.array(cookie).max(COOKIES_MAX).default([]),
    headers: z.record(z.string().max(100), z.string().max(4_096)).default({}),
    userAgent: z.string().max(1_000).optional(),
    proxy: proxy.optional(),
    session: z.string().min(1).max(SESSION_CHARACTERS_MAX).optional(),
    returnOnlyCookies: z.boolean().default(false),
    redirects: z.enum(['followed', 'told']).default('followed'),
  }),
  z.object({
    cmd: z.literal('sessions.create'),
    session: z.string().min(1).max(SESSION_CHARACTERS_MAX).optional(),
    proxy: proxy.optional(),
  }),
  z.object({ cmd: z.literal('sessions.list') }),
  z.object({ cmd: z.literal('sessions.destroy'), session: z.string().min(1).max(SESSION_CHARACTERS_MAX) }),
]);

/** What is wrong with what was asked, and where. */
export function problemOf(body: unknown, { issues }: z.ZodError): string {
  const [first] = issues;
  if (first?.code === 'invalid_union') {
    const cmd = (body as { cmd?: unknown } | null)?.cmd;
    const told = typeof cmd === 'string' ? `"${cmd.slice(0, 40)}" is not served` : 'it is missing';
    return `cmd: ${told}; there are ${COMMANDS.join(', ')}`;
  }
  const where = first === undefined || first.path.length === 0 ? 'the body' : first.path.map(String).join('.');
  return `${where}: ${first?.message ?? 'not understood'}`;
}

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
  /** Beside the protocol: why there is no page. */
  readonly code?: VisitCode;
  readonly solution?: Solution;
  readonly session?: string;
  readonly sessions?: readonly string[];
}

/**
 * Why a visit led to nothing, in a word that stays. The first three are the page's doing, and would be again; the rest
 * are the service's.
 */
export type VisitCode =
  | 'guard_refused'
  | 'navigation_failed'
  | 'bound'
  | 'timeout'
  | 'browser_gone'
  | 'busy'
  | 'given_up';

export class VisitError extends Error {
  constructor(
    readonly code: VisitCode,
    message: string,
  ) {
    super(message);
  }
}
