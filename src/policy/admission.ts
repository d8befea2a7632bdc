/**
 * The rules of a crawl: which URLs it may enter. Asked when a URL is found, and again at the last look before its
 * request, as the rules may have changed meanwhile.
 *
 * The order is that of the answers an operator would give: not this crawl's business (scope, depth), probably endless
 * (traps), not wanted (exclude, include).
 */
import type { ConfiguredRules, CrawlSettings, TrapBounds } from '../domain/crawl-settings.js';
import type { HostName } from '../domain/host.js';
import type { Code } from '../domain/outcome.js';
import type { Source } from '../domain/url.js';
import type { FilterRefusal } from './url-filter.js';
import { inScope, type Scope, scopeOf } from './scope.js';
import { firstMatch, isProblem, patternOf, type UrlPattern } from './url-pattern.js';

/** Immutable: a change is a new value, which travels to whoever decides by it. */
export interface CrawlRules {
  readonly scope: Scope;
  readonly depthMax: number | null;
  /** Where there are any, a URL must match one. */
  readonly include: readonly UrlPattern[];
  readonly exclude: readonly UrlPattern[];
  readonly traps: TrapBounds;
}

export type AdmissionCode = Extract<
  Code,
  | 'out_of_scope'
  | 'too_deep'
  | 'excluded'
  | 'not_included'
  | 'trap_url_length'
  | 'trap_path_depth'
  | 'trap_repeated_segments'
>;

const ADMISSION_CODES = {
  out_of_scope: true,
  too_deep: true,
  excluded: true,
  not_included: true,
  trap_url_length: true,
  trap_path_depth: true,
  trap_repeated_segments: true,
} as const satisfies Record<AdmissionCode, true>;

/** Whether it was the rules of the crawl that a URL was refused by. */
export function isAdmissionCode(code: Code): code is AdmissionCode {
  return Object.hasOwn(ADMISSION_CODES, code);
}

export interface AdmissionRefusal {
  readonly code: AdmissionCode;
  /** What exactly: the pattern, the bound and what passed it, the segments that repeat. */
  readonly detail: string;
}

export interface Applicant {
  /** Canonical. */
  readonly url: string;
  readonly host: HostName;
  /** Links between it and a seed. */
  readonly depth: number;
  /** A seed was named itself: what is included says which links are followed. */
  readonly source?: Source;
}

/** Null: it may enter. */
export function refusalOf(rules: CrawlRules, { url, host, depth, source }: Applicant): AdmissionRefusal | null {
  if (!inScope(rules.scope, host)) return { code: 'out_of_scope', detail: scopeDetail(rules.scope, host) };
  const { depthMax } = rules;
  if (depthMax !== null && depth > depthMax)
    return { code: 'too_deep', detail: `${depth} links from a seed; the bound is ${depthMax}` };
  const trap = trapOf(rules.traps, url);
  if (trap !== null) return trap;
  const excluding = rules.exclude.length === 0 ? null : firstMatch(rules.exclude, url);
  if (excluding !== null) return { code: 'excluded', detail: excluding.text };
  if (rules.include.length > 0 && source !== 'seed' && firstMatch(rules.include, url) === null)
    return { code: 'not_included', detail: rules.include.map(({ text }) => text).join(' ') };
  return null;
}

/** The seeds of one command, by whether the rules let them in. A host is in the scope because a seed names it. */
export interface JudgedSeeds<Seed> {
  readonly admitted: readonly Seed[];
  readonly refused: readonly {
    readonly url: string;
    readonly code: AdmissionCode | FilterRefusal['code'];
    readonly detail: string;
  }[];
  /** Hosts of those that are let in and that were not stored yet: a later run may be given a narrower scope. */
  readonly scopeHosts: readonly HostName[];
}

/** @param filter asked about those that the rules let in. */
export function judgeSeeds<Seed extends Omit<Applicant, 'depth'>>(
  rules: CrawlRules,
  settings: CrawlSettings,
  seeds: readonly Seed[],
  filter: (seed: Seed) => FilterRefusal | null,
): JudgedSeeds<Seed> {
  const anywhere: CrawlRules = { ...rules, scope: { kind: 'any' } };
  const judged = seeds.map((seed) => ({ seed, refusal: refusalOf(anywhere, { ...seed, depth: 0 }) ?? filter(seed) }));
  const admitted = judged.flatMap(({ seed, refusal }) => (refusal === null ? [seed] : []));
  const refused = judged.flatMap(({ seed: { url }, refusal }) =>
    refusal === null ? [] : [{ url, code: refusal.code, detail: refusal.detail }],
  );
  const stored = new Set(settings.scopeHosts);
  const hosts = new Set(admitted.map(({ host }) => host));
  return { admitted, refused, scopeHosts: [...hosts].filter((host) => !stored.has(host)) };
}

/** Throws on a pattern that is none: what is configured has been checked before, and so has what is stored. */
export function rulesOf(configured: ConfiguredRules, settings: CrawlSettings): CrawlRules {
  const { depthMax, traps } = configured;
  return {
    scope: scopeOf(configured.scope, settings.scopeHosts),
    depthMax,
    traps,
    include: configured.include.map(compiled),
    exclude: [...configured.exclude, ...settings.exclusions].map(compiled),
  };
}

function compiled(text: string): UrlPattern {
  const pattern = patternOf(text);
  if (isProblem(pattern)) throw new Error(`not a pattern: ${text}: ${pattern.problem}`);
  return pattern;
}

function scopeDetail(scope: Scope, host: HostName): string {
  if (scope.kind === 'any') return host;
  const shown = scope.names.slice(0, NAMES_SHOWN).join(', ');
  const more = scope.names.length > NAMES_SHOWN ? `, and ${scope.names.length - NAMES_SHOWN} more` : '';
  return `${host} is not of ${scope.kind === 'host' ? 'the hosts' : 'the sites'} ${shown}${more}`;
}

const NAMES_SHOWN = 5;

// -- traps ------------------------------------------------------------------------------------------------------

/** The longest run of segments that is looked for when it repeats. */
const CYCLE_SEGMENTS_MAX = 4;

export function trapOf(bounds: TrapBounds, url: string): AdmissionRefusal | null {
  if (url.length > bounds.urlCharactersMax) {
    const detail = `${url.length} characters; the bound is ${bounds.urlCharactersMax}`;
    return { code: 'trap_url_length', detail };
  }
  const segments = segmentsOf(url);
  if (segments.length > bounds.segmentsMax) {
    const detail = `${segments.length} path segments; the bound is ${bounds.segmentsMax}`;
    return { code: 'trap_path_depth', detail };
  }
  const cycle = cycleIn(segments, bounds.repeatsMax);
  if (cycle === null) return null;
  return {
    code: 'trap_repeated_segments',
    detail: `its path goes more than ${bounds.repeatsMax} times in a row through /${cycle}/`,
  };
}

function segmentsOf(url: string): string[] {
  const path = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', path);
  const text = url.slice(path + 1, query < 0 ? undefined : query);
  return text === '' ? [] : text.replace(/\/$/, '').split('/');
}

/** The segments that are gone through more than `repeatsMax` times in a row; null where there are none. */
function cycleIn(segments: readonly string[], repeatsMax: number): string | null {
  for (let length = 1; length <= CYCLE_SEGMENTS_MAX; length++) {
    // As many segments in a row as equal the one a cycle before them.
    let equal = 0;
    for (let i = length; i < segments.length; i++) {
      equal = segments[i] === segments[i - length] ? equal + 1 : 0;
      if (equal >= length * repeatsMax) return segments.slice(i - length + 1, i + 1).join('/');
    }
  }
  return null;
}
