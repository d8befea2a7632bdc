/** Parts of commits for tests: small, whole, and different where it matters. */
import { createHash } from 'node:crypto';
import type { PriorityClass, QueuePosition, UrlRecord } from '../../src/domain/record.js';
import type { Admission, ArchiveEntry, HostPart, PageLine, SeedPart } from '../../src/protocols/commit.js';
import type { HostSnapshot } from '../../src/protocols/host-snapshot.js';
import { sha1Digest } from '../../src/sinks/digest.js';
import { type ArchivedVisit, archiveRecords, warcinfoRecord } from '../../src/sinks/warc-record.js';

export const NO_HEADS = [0, 0, 0, 0, 0, 0, 0, 0] as const;

export function keyOf(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 32);
}

export function recordOf(url: string, changes: Partial<UrlRecord> = {}): UrlRecord {
  return {
    url,
    key: keyOf(url),
    host: new URL(url).hostname,
    state: 'queued',
    source: 'seed',
    element: null,
    via: null,
    hopPath: '',
    depth: 0,
    priority: 3,
    discoveredAtMs: 1_700_000_000_000,
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

export function admission(
  url: string,
  sequence: number,
  changes: { priority?: PriorityClass; ifAbsent?: boolean } = {},
): Admission {
  const { priority = 3, ifAbsent = false } = changes;
  return { record: recordOf(url, { priority }), sequence, ifAbsent };
}

export function seedPart(admitted: readonly Admission[], command = 1): SeedPart {
  const seeds = admitted.map(({ record: { url, key } }) => ({ url, key }));
  return { kind: 'seed', command, again: false, seeds, refused: [], admitted, settings: null };
}

export function ready(sequence: number, priority: PriorityClass = 3): QueuePosition {
  return { queue: 'ready', priority, sequence };
}

export const SNAPSHOT = {
  breaker: { phase: 'closed', failures: 0 },
  throttle: { consecutive: 0 },
  closedUntilMs: null,
  lastDurationMs: 12.5,
  requests: 3,
  recheckFrom: 5,
  stamp: { boot: 7, uptimeMs: 8, wallMs: 9 },
  ladder: { need: null, clearance: null },
  browserTime: { day: 0, usedMs: 0 },
  retryBudget: null,
} as HostSnapshot;

export function hostPart(host: string, changes: Partial<HostPart> = {}): HostPart {
  return {
    kind: 'host',
    host,
    ticket: 1,
    permit: null,
    moves: [],
    snapshot: SNAPSHOT,
    robots: [],
    heads: NO_HEADS,
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

/** What one answer leaves; the text is its payload, and makes it differ. */
export function archiveOf(url: string, text: string, changes: Partial<ArchivedVisit> = {}): ArchiveEntry {
  const body = new Uint8Array(Buffer.from(text));
  const visit: ArchivedVisit = {
    url,
    status: 200,
    statusText: 'OK',
    httpVersion: '1.1',
    headers: [['Content-Type', 'text/html; charset=utf-8']],
    requestHeaders: [['user-agent', 'TestBot/1.0']],
    rawHead: null,
    sentHead: null,
    remoteAddress: '192.0.2.1',
    body,
    payloadDigest: sha1Digest(body),
    cut: false,
    fetchedAtMs: Date.UTC(2024, 0, 2, 3, 4, 5),
    metadata: null,
    ...changes,
  };
  const { status, remoteAddress, fetchedAtMs: atMs } = visit;
  return { url, atMs, status, remoteAddress, records: archiveRecords(visit), unmodified: null };
}

export function pageOf(url: string, text = ''): PageLine {
  return {
    url,
    canonical: url,
    fetchedAt: '2024-01-02T03:04:05.000Z',
    status: 200,
    mime: 'text/html',
    charset: 'utf-8',
    title: text,
    digest: `sha1:${keyOf(text)}`,
    simhash: null,
    links: 0,
    declaredCanonical: null,
    kind: 'document',
    noindex: false,
    outcome: 'fetched',
  };
}

/** A visit that leaves the queue, with its archive records and its line. */
export function visitPart(url: string, sequence: number, changes: Partial<HostPart> = {}): HostPart {
  const record = recordOf(url, { state: 'active', etag: '"1"', digest: 'sha1:X' });
  return hostPart(record.host, {
    moves: [{ from: ready(sequence), to: null, record }],
    archive: archiveOf(url, `body of ${url}`),
    page: pageOf(url, 'a page'),
    ...changes,
  });
}

export function warcinfo(filename: string): Uint8Array {
  const told = { software: 'test', operator: 'Ops <ops@bot.example>', userAgent: 'TestBot/1.0', createdAtMs: 0 };
  return warcinfoRecord({ filename, ...told });
}
