/**
 * The control of a crawl that does not run: its store, opened for the length of a command.
 *
 * Opening takes the lock, so that no crawl can begin meanwhile, and repairs what a kill left, as every start does.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/schema.js';
import { seedAdmission } from '../actors/frontier.js';
import type { Candidate } from '../domain/url.js';
import { hostDelayMs } from '../policy/delay.js';
import type { Clock, StorePort } from '../protocols/ports.js';
import { warcinfoRecord } from '../sinks/warc-record.js';
import { openStore } from '../store/store.js';
import type { Control, SeedWish } from './control.js';
import { Desk, notRunning } from './desk.js';
import { literalRefusal } from './seed-rules.js';
import { type Field, sowAll, type Sown } from './seeds.js';

export interface StoppedCrawl {
  readonly control: Control;
  close(): Promise<void>;
}

/** Whether a crawl was ever begun there. */
export function holdsCrawl(dataDir: string): boolean {
  return existsSync(join(dataDir, 'store', 'CURRENT'));
}

/** Rejects with StoreError: `store_locked` while a crawl runs. Creates nothing where there is no crawl: ask first. */
export async function openStopped(dataDir: string, config: Config, clock: Clock): Promise<StoppedCrawl> {
  const { userAgent, politeness, archive } = config;
  const store = await openStore({
    dir: dataDir,
    archiveBytesMax: archive.fileBytesMax,
    warcinfo: (filename) =>
      warcinfoRecord({
        filename,
        software: 'Orbweaver/0.1',
        operator: userAgent,
        userAgent,
        createdAtMs: clock.wallMs(),
      }),
  });
  const terms = {
    delayMsOf: (host: string) => hostDelayMs(host, politeness),
    adaptiveFactor: politeness.adaptiveFactor,
  };
  const field: Field = { refusalOf: literalRefusal(config), sow: (candidates) => sowInto(store, candidates, clock) };
  const later = () => Promise.reject(notRunning(dataDir));
  const changes = { pause: later, resume: later, exclude: later, seed: (wish: SeedWish) => sowAll(wish, field) };
  const control = new Desk({ dataDir, store, clock, terms, live: null, isPaused: false, changes });
  return { control, close: () => store.close() };
}

/** D1: all of them in one commit, on the disk when it resolves. */
async function sowInto(store: StorePort, candidates: readonly Candidate[], clock: Clock): Promise<Sown> {
  const { batch, nextSequence } = store.opened();
  const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs(), draw: () => 0 };
  const admitted = candidates.map((candidate, i) => seedAdmission(candidate, nextSequence + i, now));
  const seeds = candidates.map(({ url, key }) => ({ url, key }));
  const part = { kind: 'seed', command: 1, seeds, refused: [], admitted, settings: null } as const;
  const known = new Set((await store.commit(batch + 1, [part], true)).known);
  const urlsOf = (isKnown: boolean) => seeds.filter(({ key }) => known.has(key) === isKnown).map(({ url }) => url);
  return { queued: urlsOf(false), known: urlsOf(true) };
}
