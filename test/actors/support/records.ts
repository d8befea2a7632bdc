/** Records, queue rows and candidates with nothing in them but what a test asks for. */
import { type ConfiguredRules, type CrawlSettings, NO_SETTINGS } from '../../../src/domain/crawl-settings.js';
import { rulesOf } from '../../../src/policy/admission.js';
import { fnv1a } from '../../../src/domain/host.js';
import type { QueueEntry, QueuePosition, UrlRecord } from '../../../src/domain/record.js';
import type { Candidate } from '../../../src/domain/url.js';
import type { CommitReceipt, HostPart, Totals } from '../../../src/protocols/commit.js';
import type { QueueHead } from '../../../src/protocols/effects.js';
import { UNTOUCHED } from '../../../src/protocols/host-snapshot.js';

export const NO_TOTALS: Totals = { urls: 0, ready: 0, waiting: 0, parked: 0, dead: 0, pages: 0 };

/** 32 hex digits, other ones for another URL. */
export function keyOf(url: string): string {
  return [0, 1, 2, 3].map((n) => fnv1a(`${n} ${url}`).toString(16).padStart(8, '0')).join('');
}

export function recordOf(url: string, changes: Partial<UrlRecord> = {}): UrlRecord {
  return {
    url,
    key: keyOf(url),
    host: new URL(url).hostname,
    state: 'queued',
    source: 'link',
    element: null,
    via: null,
    hopPath: 'L',
    depth: 1,
    priority: 2,
    discoveredAtMs: 0,
    deliveries: 0,
    workerCrashes: 0,
    processDeaths: 0,
    attempts: [],
    etag: null,
    lastModified: null,
    digest: null,
    archived: null,
    chain: null,
    ladder: null,
    robots: null,
    ...changes,
  };
}

export function readyEntry(url: string, sequence: number, changes: Partial<UrlRecord> = {}): QueueEntry {
  const record = recordOf(url, changes);
  return { at: { queue: 'ready', priority: record.priority, sequence }, record };
}

export function entryAt(position: QueuePosition, url: string, changes: Partial<UrlRecord> = {}): QueueEntry {
  return { at: position, record: recordOf(url, changes) };
}

export function candidateOf(url: string, changes: Partial<Candidate> = {}): Candidate {
  const { hostname, origin } = new URL(url);
  return { url, key: keyOf(url), host: hostname, origin, source: 'link', element: 'a', rel: null, ...changes };
}

export function hostPart(host: string, ticket: number, changes: Partial<HostPart> = {}): HostPart {
  return {
    kind: 'host',
    host,
    ticket,
    permit: null,
    moves: [],
    snapshot: UNTOUCHED,
    robots: [],
    heads: [0, 0, 0, 0, 0, 0, 0, 0],
    wakeAtMs: null,
    visits: [],
    page: null,
    archive: null,
    dead: [],
    admitted: [],
    settings: null,
    ...changes,
  };
}

export function receiptOf(changes: Partial<CommitReceipt> = {}): CommitReceipt {
  return { known: [], queues: [], totals: NO_TOTALS, ...changes };
}

export function headOf(rows: Partial<QueueHead> = {}): QueueHead {
  return {
    ready: [],
    readyComplete: true,
    waiting: [],
    waitingComplete: true,
    parked: [],
    parkedComplete: true,
    notes: [],
    failure: null,
    ...rows,
  };
}

/** Rules and settings of a crawl that may enter everything, but for what is changed. */
export function settingsOf(
  changes: Partial<ConfiguredRules> = {},
  more: Partial<CrawlSettings> = {},
): { readonly configured: ConfiguredRules; readonly settings: CrawlSettings } {
  const traps = { urlCharactersMax: 2_048, segmentsMax: 20, repeatsMax: 3 };
  const configured: ConfiguredRules = { scope: 'any', depthMax: null, include: [], exclude: [], traps, ...changes };
  return { configured, settings: { ...NO_SETTINGS, ...more } };
}

export const ANY_RULES = rulesOf(settingsOf().configured, NO_SETTINGS);
