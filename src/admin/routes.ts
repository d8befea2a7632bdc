/** The routes of the control interface: what may be asked, in which form, and which answer each gets. */
import { z } from 'zod';
import { CODES, type Code } from '../domain/outcome.js';
import { type DeadFilter, REDRIVE_WAYS } from '../domain/redrive.js';
import { type Control, type DeadQuery, HOST_STATES } from './control.js';
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

const deadFilter = {
  host: hostName.nullish(),
  cause: z.string().min(1).max(300).nullish(),
  code: z.string().refine(isCode, 'a code, as `dead` prints them').nullish(),
  beforeMs: z.number().int().nullish(),
  sinceMs: z.number().int().nullish(),
};

type WrittenFilter = { readonly [name in keyof DeadFilter]?: DeadFilter[name] | undefined };

const redriveBody = z.strictObject({
  ...deadFilter,
  rate: z.strictObject({ letters: z.number().int().min(1).max(1_000_000), perMs: z.number().int().min(1) }).nullish(),
  way: z.enum(REDRIVE_WAYS).default('api'),
  who: z.string().min(1).max(200).nullish(),
});

const redrivesQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(HOSTS_AT_ONCE_MAX).default(100),
  before: z.coerce.number().int().min(1).optional(),
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

const redriveNumber = z.strictObject({
  number: z.coerce
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER - 1),
});

function filterOf({ host, cause, code, beforeMs, sinceMs }: WrittenFilter): DeadFilter {
  return {
    host: host ?? null,
    cause: cause ?? null,
    code: code ?? null,
    beforeMs: beforeMs ?? null,
    sinceMs: sinceMs ?? null,
  };
}

function pageOf({ limit, after, ...filter }: z.output<typeof deadQuery>): DeadQuery {
  return { ...filterOf(filter), limit, after: after ?? null };
}

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
    app.get('/dead', { schema: { querystring: deadQuery } }, ({ query }) => control.dead(pageOf(query)));
    app.get('/redrive/preview', { schema: { querystring: deadQuery } }, ({ query }) =>
      control.previewRedrive(pageOf(query)),
    );
    app.post('/redrive', { schema: { body: redriveBody } }, ({ body }) =>
      control.redrive({ ...filterOf(body), rate: body.rate ?? null, way: body.way, who: body.who ?? null }),
    );
    app.get('/redrives', { schema: { querystring: redrivesQuery } }, ({ query }) =>
      control.redrives({ limit: query.limit, before: query.before ?? null }),
    );
    app.post('/redrives/:number/cancel', { schema: { params: redriveNumber } }, ({ params }) =>
      control.cancelRedrive(params.number),
    );
    app.get('/tree', () => control.tree());
    app.post('/why', { schema: { body: whyBody } }, ({ body }) => control.why(body.url));
    app.post('/pause', () => control.pause());
    app.post('/resume', () => control.resume());
    app.post('/seed', { schema: { body: seedBody } }, ({ body }) => control.seed(body));
    app.post('/exclude', { schema: { body: excludeBody } }, ({ body }) => control.exclude(body));
  };
}
