/**
 * Every option: its default, its bounds, its unit and a sentence. Nothing else in the project has a default for them.
 *
 * Objects are strict: an option that does not exist is an error, since a typing error in `politeness` is paid by
 * others. What an option can not say alone (one bound against another) is in `limits.ts`.
 */
import { z } from 'zod';
import { BROWSERS } from '../domain/tier.js';
import { isProblem, patternOf } from '../policy/url-pattern.js';

const KIB = 1_024;
const MIB = 1_024 * KIB;

declare module 'zod' {
  interface GlobalMeta {
    /** What a number counts; absent where the value has no unit. */
    unit?: string;
  }
}

/** An option with its default, a sentence for people, and what its number counts. */
function option<S extends z.ZodType>(schema: S, fallback: z.input<S>, description: string, unit?: string) {
  return schema.default(fallback as never).meta(unit === undefined ? { description } : { description, unit });
}

function group<S extends z.ZodRawShape>(description: string, shape: S) {
  return z
    .strictObject(shape)
    .prefault({} as never)
    .meta({ description });
}

const whole = (least: number, most: number) => z.int().min(least).max(most);
const filled = z.string().min(1);
const milliseconds = 'milliseconds';
const bytes = 'bytes';

const networks = z.array(z.union([z.cidrv4(), z.cidrv6()])).max(1_000);
const address = z.union([z.ipv4(), z.ipv6()]);
const serverAddress = z
  .string()
  .regex(/^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\])(:\d{1,5})?$|^[0-9a-fA-F:]*:[0-9a-fA-F:]+$/)
  .meta({ title: 'an IP address, with a port where it is not 53, as in 127.0.0.1:5353 or [::1]:5353' });
const hostPattern = z
  .string()
  .regex(/^(\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*)$/)
  .meta({ title: 'a host name in lower case, *.NAME for all names below it, or * for all' });

const patterns = z
  .array(
    z.string().superRefine((text, context) => {
      const pattern = patternOf(text);
      if (isProblem(pattern)) context.addIssue({ code: 'custom', message: `not a pattern: ${pattern.problem}` });
    }),
  )
  .max(10_000)
  .meta({ title: 'patterns as in robots.txt: /path, a host, host/path or a whole URL, with * and $; or regex:…' });

export const configSchema = z.strictObject({
  userAgent: option(
    z
      .string()
      .max(256)
      .regex(/^[A-Za-z][\x20-\x7e]*$/)
      .meta({ title: 'at most 256 printable ASCII characters that begin with the product token' }),
    'Orbweaver/0.1',
    'Sent with each request. Its first word is what robots.txt is matched against; beyond loopback it must hold a URL or an address where the operator can be reached.',
  ),
  scope: option(
    z.enum(['host', 'site', 'any']),
    'site',
    'How far links are followed from the seeds: their hosts, their registrable domains, or anywhere.',
  ),
  include: option(patterns, [], 'Only URLs that match one of these are followed; none: all are.'),
  exclude: option(patterns, [], 'URLs that match one of these are left.'),
  maxDepth: option(whole(0, 1_000_000).nullable(), null, 'Links further from a seed are left; null: no bound.', 'hops'),
  waitSeconds: option(
    z.number().min(0).max(86_400),
    30,
    'A crawl ends when nothing falls due within this time.',
    'seconds',
  ),

  traps: group('Where a site may have no end', {
    urlCharactersMax: option(whole(64, 8_192), 2_048, 'A longer URL is left; it is never cut.', 'characters'),
    segmentsMax: option(whole(1, 1_000), 20, 'A path with more segments is left.', 'segments'),
    repeatsMax: option(
      whole(1, 100),
      3,
      'A path that goes more often in a row through the same segments is left.',
      'times',
    ),
  }),

  dns: group('How names become addresses', {
    servers: option(z.array(serverAddress).max(16), [], 'Name servers to ask; none: those of the system.'),
    hosts: option(
      z.record(hostPattern, address),
      {},
      'Fixed addresses by name; *.example.org stands for all names below it, at any depth.',
    ),
  }),
  guard: group('Which addresses may be reached', {
    allow: option(networks, [], 'Networks that are allowed although they are private, loopback or reserved.'),
  }),
  politeness: group('How often a host is asked', {
    delayMs: option(
      whole(0, 3_600_000),
      1_000,
      'The least time from the end of a request to the next one of its host.',
      milliseconds,
    ),
    hostDelaysMs: option(
      z.record(hostPattern, whole(0, 3_600_000)),
      {},
      'Delays of their own for some hosts; *.example.org stands for all names below it, at any depth.',
      milliseconds,
    ),
    adaptiveFactor: option(
      z.number().min(0).max(1_000),
      10,
      'A host is left alone for this many times as long as it took to answer; 0 switches that off.',
      'times',
    ),
    addressDelayMs: option(
      whole(0, 60_000),
      100,
      'The least time between two requests to one address; 0 switches that off.',
      milliseconds,
    ),
    addressExempt: option(networks, [], 'Networks whose addresses have no clock of their own, as of a large cache.'),
  }),
  fetch: group('Requests and their bounds', {
    slots: option(whole(1, 4_096), 256, 'Requests at once.', 'requests'),
    timeoutMs: option(
      whole(100, 600_000),
      20_000,
      'The whole of a request, from the connection to the last byte.',
      milliseconds,
    ),
    http2: option(z.boolean(), true, 'Speak HTTP/2 with servers that choose it, one request at a time.'),
    bytesMax: option(whole(1, 1_024 * MIB), 16 * MIB, 'A body beyond it, after decompression, is refused.', bytes),
    headerBytesMax: option(whole(1_024, MIB), 64 * KIB, 'A header block beyond it is refused.', bytes),
    socketsMax: option(
      whole(1, 65_536),
      1_024,
      'Open connections, idle ones included; the oldest idle one gives way.',
      'connections',
    ),
    openVisitsMax: option(
      whole(1, 65_536),
      256,
      'Visits begun and not yet committed: what a crash may repeat.',
      'visits',
    ),
    bodyBudgetBytes: option(
      whole(MIB, 64 * 1_024 * MIB),
      256 * MIB,
      'Bodies in memory; above half of it no request begins, at the whole of it sockets are paused.',
      bytes,
    ),
  }),
  robots: group('robots.txt', {
    timeoutMs: option(whole(100, 600_000), 10_000, 'The whole of a request for robots.txt.', milliseconds),
    meta: option(
      z.boolean(),
      true,
      'Obey what a page asks of robots by meta element or X-Robots-Tag header: nofollow.',
    ),
  }),
  links: group('Which links of a page are followed', {
    embeds: option(
      z.boolean(),
      true,
      'What a page shows: images, with every candidate of a srcset, style sheets and icons; after documents of equal depth.',
    ),
    forms: option(z.boolean(), false, 'What a form that asks by GET leads to when it is sent as it stands.'),
    nofollow: option(z.enum(['skip', 'follow']), 'skip', 'Links with rel=nofollow.'),
  }),
  challenge: group("Doors in front of pages, and scripts' empty shells", {
    byHeaders: option(z.boolean(), true, 'Look at the headers of an answer.'),
    byMarkers: option(z.boolean(), true, 'Look at the title, the addresses, the scripts and the names in a page.'),
    byDensity: option(z.boolean(), true, "Look at how little a page says: a script's empty shell."),
    markers: option(
      z.array(z.string().min(6).max(200)).max(1_000),
      [],
      'More of what only a door has in an address, a script or a name, in any case.',
    ),
    headers: option(
      z
        .array(
          z
            .string()
            .max(500)
            .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+(: ?[\x20-\x7e]+)?$/),
        )
        .max(100)
        .meta({ title: 'header names, or name: value, as in x-guard: denied' }),
      [],
      'More headers that only a door is sent with.',
    ),
    densityMarkupBytes: option(whole(0, 1_024 * MIB), 2_048, 'A larger page should say something.', bytes),
    densityTextCharacters: option(
      whole(0, 100_000),
      200,
      'A page with less visible text says next to nothing.',
      'characters',
    ),
  }),
  page: group('Reading pages', {
    linksMax: option(whole(0, 1_000_000), 5_000, 'Links taken from one page; the rest is counted and left.', 'links'),
    threads: option(whole(1, 64), 2, 'Threads that read pages; without a value, by the number of cores.', 'threads'),
  }),
  archive: group('WARC files', {
    enabled: option(z.boolean(), true, 'Keep requests and responses in WARC files.'),
    metadata: option(
      z.boolean(),
      true,
      'Keep with each page how it was found and what it links to, as a metadata record.',
    ),
    fileBytesMax: option(
      whole(100_000, 1e12),
      1_000_000_000,
      'A WARC file that reaches it is closed and a new one begun.',
      bytes,
    ),
  }),
  tls: group('Certificates', {
    ca: option(filled.nullable(), null, 'A PEM file of authorities that are trusted beside those of the runtime.'),
  }),
  retry: group('Deliveries after a failure', {
    delaysSeconds: option(
      z.array(z.number().min(0).max(86_400)).min(1).max(100),
      [2, 10, 30, 60, 120],
      'Waits before each further delivery; the last one repeats.',
      'seconds',
    ),
    deliveriesMax: option(whole(1, 100), 8, 'Deliveries in all; then the URL is a dead letter.', 'deliveries'),
    budgetShare: option(
      z.number().min(0).max(10),
      0.2,
      'Retries that each first attempt allows, of a host and of all: beyond them and those below a retry waits.',
      'retries',
    ),
    budgetPerHostAndMinute: option(
      z.number().min(0.1).max(60_000),
      30,
      'Retries that each host may make beside its share.',
      'retries a minute',
    ),
    budgetPerMinute: option(
      z.number().min(1).max(6_000_000),
      600,
      'Retries that all hosts together may make beside their share.',
      'retries a minute',
    ),
  }),
  breaker: group('Hosts that fail', {
    failures: option(whole(1, 1_000), 5, 'Failures in a row after which a host is left alone.', 'failures'),
    quarantineSeconds: option(
      z.number().min(1).max(3_600),
      30,
      'How long it is left alone the first time; after each failure of its probe twice as long, up to an hour.',
      'seconds',
    ),
  }),
  escalation: group('What it takes to get a page', {
    memorySeconds: option(
      z.number().min(1).max(604_800),
      21_600,
      'For so long a host is believed to need what it needed last; then less is tried with one URL.',
      'seconds',
    ),
    retrySeconds: option(
      z.number().min(1).max(604_800),
      3_600,
      'What shows a challenge whatever is tried is tried again so much later.',
      'seconds',
    ),
  }),
  impersonate: group("Requests with a browser's handshake", {
    sites: option(
      z.array(hostPattern).max(10_000),
      [],
      'Hosts that may be asked so, where they refuse a plain request; none: it is switched off.',
    ),
    browser: option(
      z.enum(BROWSERS),
      'chrome151',
      'The browser, with its version, whose handshake and headers are sent.',
    ),
    from: option(
      z
        .string()
        .regex(/^[\x21-\x7e]+$/)
        .max(200)
        .nullable(),
      null,
      'The mailbox or URL that goes with it as From; none: the contact of the user agent.',
    ),
    concurrency: option(whole(1, 256), 8, 'Such requests at once.', 'requests'),
  }),
  browser: group('Pages that need a browser', {
    endpoint: option(
      z.url({ protocol: /^https?$/ }).nullable(),
      null,
      'A service that drives browsers and speaks the FlareSolverr v1 protocol; none: no page is rendered.',
    ),
    sites: option(
      z.array(hostPattern).max(10_000),
      ['*'],
      'Hosts whose pages may be rendered, where nothing less gets them.',
    ),
    concurrency: option(whole(1, 64), 2, 'Pages that are rendered at once.', 'pages'),
    timeoutMs: option(whole(1_000, 300_000), 30_000, 'The whole of a page, with all that it loads.', milliseconds),
    secondsPerHostAndDay: option(
      whole(1, 86_400),
      600,
      "Of the browser's time that one host is granted in a day; what needs more waits for the next.",
      'seconds',
    ),
    trustBackend: option(
      z.boolean(),
      false,
      'The service guards its own connections: it is not told to go through this process.',
    ),
    breaker: option(
      z.boolean(),
      true,
      'Give the service a rest after five failures in a row, while all else goes on; without, it is asked again and again.',
    ),
  }),
  egress: group('When the fault is ours', {
    guard: option(
      z.boolean(),
      true,
      'When hardly any host can be reached, stop asking but for one at a time, and count that against none.',
    ),
    hostsMin: option(whole(2, 256), 5, 'So many hosts must be out of reach at least.', 'hosts'),
    hostsMax: option(whole(2, 256), 16, 'The latest hosts that are looked at.', 'hosts'),
    shareMin: option(
      z.number().min(0.5).max(1),
      0.8,
      'The share of these hosts that must be out of reach.',
      'of the hosts',
    ),
    windowSeconds: option(
      z.number().min(1).max(600),
      30,
      'What was learned of a host before counts no more.',
      'seconds',
    ),
    suspenseSeconds: option(
      z.number().min(0).max(60),
      5,
      'For so long a host that could not be reached is not judged: whose fault it is may show meanwhile.',
      'seconds',
    ),
  }),
  seen: group('The filter of known URLs', {
    expectedUrls: option(whole(1_000, 1e10), 1e7, 'It keeps to one false hit in a hundred up to this size.', 'URLs'),
  }),
  hosts: group('Host actors', {
    activeFactor: option(
      z.number().min(1).max(100),
      3,
      'Hosts kept ready per fetch slot, at least; more while slots are idle and hosts wait in line.',
      'hosts',
    ),
    liveMax: option(
      whole(1, 10_000_000),
      50_000,
      'Hosts in memory at once; beyond it those that have rested longest go back to the store.',
      'hosts',
    ),
  }),
});

export type Config = z.output<typeof configSchema>;

/** An option as it stands in the tree of the schema. */
export interface Option {
  /** Dotted: `politeness.delayMs`. */
  readonly key: string;
  readonly path: readonly string[];
  readonly schema: z.ZodType;
  readonly description: string;
  readonly unit: string | null;
}

/** All options, in the order of the schema. */
export const OPTIONS: ReadonlyMap<string, Option> = new Map(
  Object.entries(configSchema.shape)
    .flatMap(([name, entry]) => optionsBelow([name], entry))
    .map((found) => [found.key, found]),
);

/** Names of groups: keys that hold options and are none. */
export const GROUPS: ReadonlySet<string> = new Set(
  [...OPTIONS.values()].filter(({ path }) => path.length > 1).map(({ path }) => path.slice(0, -1).join('.')),
);

function optionsBelow(path: readonly string[], schema: z.ZodType): Option[] {
  if (schema instanceof z.ZodPrefault) {
    const inner = (schema as z.ZodPrefault<z.ZodObject>).unwrap();
    return Object.entries(inner.shape).flatMap(([name, entry]) => optionsBelow([...path, name], entry as z.ZodType));
  }
  const { description = '', unit = null } = schema.meta() ?? {};
  return [{ key: path.join('.'), path, schema, description, unit }];
}

/** Threads for pages on a machine with so many cores: the main thread keeps one to itself where there are enough. */
export function pageThreadsFor(cores: number): number {
  if (cores <= 1) return 1;
  return Math.min(8, Math.max(2, cores - 1));
}
