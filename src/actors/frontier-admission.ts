/**
 * The frontier's admission: which candidates enter, as what, and where in their host's queue.
 *
 * Most links are known already, and cost a look into the filter. What is new is judged by the rules of the crawl, by the
 * filter of the program that runs it and by the robots rules that its finder knows; then it gets its record and sequence.
 */
import type { PriorityClass, RobotsEvidence, UrlRecord } from '../domain/record.js';
import type { Candidate } from '../domain/url.js';
import { type AdmissionRefusal, refusalOf } from '../policy/admission.js';
import { type FilterRefusal, filterRefusal } from '../policy/url-filter.js';
import { disallowedBy } from '../policy/last-look.js';
import { blockedOnAdmission } from '../policy/history.js';
import { linkKind } from '../policy/links.js';
import { comesBackTo } from '../policy/redirect-chain.js';
import type { Instant } from '../protocols/actor.js';
import type { Admission } from '../protocols/commit.js';
import { type Effect, log } from '../protocols/effects.js';
import type { Found } from '../protocols/frontier.js';
import type { State } from './frontier-state.js';

/** What stands behind a candidate that nobody linked to. */
export const SEEDED = { via: null, hopPath: '', depth: 0, seedRedirect: false, chain: null } as const;

/** A seed as it enters the registry, whoever writes it there. */
export function seedAdmission(candidate: Candidate, sequence: number, now: Instant): Admission {
  return { record: newRecord(candidate, SEEDED, 0, now), sequence, ifAbsent: true };
}

type Finder = Omit<Found, 'candidates' | 'via' | 'robots'> & { readonly via: string | null };

export function admitFound(state: State, found: Found, now: Instant, effects: Effect[]): Admission[] {
  const admitted: Admission[] = [];
  for (const candidate of found.candidates) {
    const depth = depthOf(candidate, found);
    // What is known already was judged before: most links are.
    if (isKnownLink(state, candidate)) continue;
    const refusal = refusalFor(state, candidate, found.via, depth, effects);
    if (refusal !== null) {
      state.notAdmitted.set(refusal.code, (state.notAdmitted.get(refusal.code) ?? 0) + 1);
      if (found.seedRedirect && candidate.source === 'redirect') {
        const { code } = refusal;
        const event = { event: 'redirect_refused', url: found.via, target: candidate.url, code } as const;
        effects.push({ do: 'announce', event });
      }
      continue;
    }
    const robots = disallowedBy(found.robots, candidate.url, candidate.origin);
    const admission = admit(state, candidate, found, now, robots);
    if (admission !== null) admitted.push(admission);
  }
  return admitted;
}

/** By the rules of the crawl, then by the filter of the program that runs it. */
function refusalFor(
  state: State,
  candidate: Candidate,
  via: string | null,
  depth: number,
  effects: Effect[],
): AdmissionRefusal | FilterRefusal | null {
  const { url, host } = candidate;
  return refusalOf(state.rules, { url, host, depth }) ?? filteredBy(state, candidate, via, depth, effects);
}

/** What a filter is told of a candidate itself. */
export type FilteredCandidate = Pick<Candidate, 'url' | 'host' | 'source' | 'element' | 'rel'>;

export function filteredBy(
  state: State,
  { url, host, source, element, rel }: FilteredCandidate,
  via: string | null,
  depth: number,
  effects: Effect[],
): FilterRefusal | null {
  const { filter } = state.props;
  if (filter === undefined) return null;
  const filtered = filterRefusal(filter, { url, host, depth, source, element, rel, via });
  if (filtered?.code === 'plugin_failed') {
    const count = ++state.filterFailures;
    // A filter that fails on everything must not fill the log.
    if (Number.isInteger(Math.log2(count)))
      effects.push(log('warn', 'plugin_failed', { url, detail: filtered.detail, count }));
  }
  return filtered;
}

function depthOf(candidate: Candidate, finder: Finder): number {
  return candidate.source === 'link' ? finder.depth + 1 : finder.depth;
}

/** A link trusts the filter. */
function isKnownLink(state: State, { key, source }: Candidate): boolean {
  return state.pending.has(key) || (source === 'link' && state.props.seen.has(key));
}

/**
 * Null: known already. What must not be missed by the filter's errors asks the registry, in the commit.
 * @param robots the evidence where robots.txt disallows it: then it enters, but not to be asked for
 */
export function admit(
  state: State,
  candidate: Candidate,
  finder: Finder,
  now: Instant,
  robots: RobotsEvidence | null,
): Admission | null {
  if (isKnownLink(state, candidate)) return null;
  const ifAbsent = state.props.seen.has(candidate.key) || comesBackTo(candidate.key, finder.chain);
  state.pending.add(candidate.key);
  state.journal.keys.push(candidate.key);
  const queued = newRecord(candidate, finder, depthOf(candidate, finder), now);
  const record = robots === null ? queued : blockedOnAdmission(queued, robots, now);
  return { record, sequence: state.sequence++, ifAbsent };
}

function newRecord(candidate: Candidate, finder: Finder, depth: number, now: Instant): UrlRecord {
  const hop = { seed: '', link: 'L', redirect: 'R' }[candidate.source];
  return {
    url: candidate.url,
    key: candidate.key,
    host: candidate.host,
    state: 'queued',
    source: candidate.source,
    element: candidate.element,
    via: finder.via,
    hopPath: finder.hopPath + hop,
    depth,
    priority: priorityOf(candidate, depth),
    discoveredAtMs: now.wallMs,
    deliveries: 0,
    workerCrashes: 0,
    processDeaths: 0,
    attempts: [],
    etag: null,
    lastModified: null,
    digest: null,
    archived: null,
    robots: null,
    chain: candidate.source === 'redirect' ? finder.chain : null,
    ladder: null,
  };
}

/**
 * Seeds first, then redirects (their page is owed already), then links, the nearer to a seed the sooner. What a page only
 * shows comes after the documents of its depth.
 */
function priorityOf({ source, element, rel }: Candidate, depth: number): PriorityClass {
  if (source === 'seed') return 0;
  if (source === 'redirect') return 1;
  const isEmbed = linkKind(element, rel) === 'embed';
  return Math.min(2 + Math.floor(depth / 4) + (isEmbed ? 1 : 0), 7) as PriorityClass;
}
