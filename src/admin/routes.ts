/** The routes of the control interface: what may be asked, in which form, and which answer each gets. */
import { z } from 'zod';
import { CODES, type Code } from '../domain/outcome.js';
import { type Control, HOST_STATES } from './control.js';
import type { Routes } from './server.js';

export const HOSTS_AT_ONCE_MAX = 1_000;
/** In one wish; more are several wishes. */
export const SEEDS_MAX = 1_000_000;
export const PATTERNS_MAX = 10_000;
/** Longer than any URL that is taken: what goes beyond is refused with the rest of its wish. */
const SEED_CHARACTERS_MAX = 65_536;

const hostName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-z0-9._:[\]-]+$/, 'a host name in lower case, as in www.example.org');

const hostsQuery = z.strictObject({
  state: z.enum(HOST_STATES).default('work'),
  limit: z.coerce.number().int().min(1).max(HOSTS_AT_ONCE_MAX).default(100),
  after: hostName.optional(),
});

const instantMs = z.coerce.number().int().optional();

const deadQuery = z.strictObject({
  host: hostName.optional(),
  cause: z.string().min(1).max(300).optional(),
  code: z.string().refine(isCode, 'a code, as `dead` prints them').optional(),
  beforeMs: instantMs,
  sinceMs: instantMs,
  limit: z.coerce.number().int().min(1).max(HOSTS_AT_ONCE_MAX).default(100),
  after: z
    .string()
    .regex(/^([0-9a-f]{2}){1,64}$/)
    .optional(),
});

const seedBody = z.strictObject({
  urls: z.array(z.string().max(SEED_CHARACTERS_MAX)).min(1).max(SEEDS_MAX),
  again: z.boolean().default(false),
});

/** Not of the route: a URL that is asked about may have any length that a link can have. */
const whyBody = z.strictObject({ url: z.string().min(1).max(SEED_CHARACTERS_MAX) });

const excludeBody = z.strictObject({
  patterns: z.array(z.string().min(1).max(2_048)).max(PATTERNS_MAX),
  remove: z.boolean().default(false),
});

function isCode(text: string): text is Code {
  return Object.hasOwn(CODES, text);
}

export function controlRoutes(control: Control): Routes {
  return (app) => {
    app.get('/status', () => control.status());
    app.get('/hosts', { schema: { querystring: hostsQuery } }, ({ query }) =>
      control.hosts({ state: query.state, limit: query.limit, after: query.after ?? null }),
    );
    app.get('/hosts/:name', { schema: { params: z.strictObject({ name: hostName }) } }, ({ params }) =>
      control.host(params.name),
    );
    app.get('/dead', { schema: { querystring: deadQuery } }, ({ query }) =>
      control.dead({
        host: query.host ?? null,
        cause: query.cause ?? null,
        code: query.code ?? null,
        beforeMs: query.beforeMs ?? null,
        sinceMs: query.sinceMs ?? null,
        limit: query.limit,
        after: query.after ?? null,
      }),
    );
    app.get('/tree', () => control.tree());
    app.post('/why', { schema: { body: whyBody } }, ({ body }) => control.why(body.url));
    app.post('/pause', () => control.pause());
    app.post('/resume', () => control.resume());
    app.post('/seed', { schema: { body: seedBody } }, ({ body }) => control.seed(body));
    app.post('/exclude', { schema: { body: excludeBody } }, ({ body }) => control.exclude(body));
  };
}
