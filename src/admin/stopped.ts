/**
 * The control of a crawl that does not run: its store, opened for the length of a command.
 *
 * Opening takes the lock, so that no crawl can begin meanwhile, and repairs what a kill left, as every start does.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/schema.js';
import { hostDelayMs } from '../policy/delay.js';
import type { Clock } from '../protocols/ports.js';
import { warcinfoRecord } from '../sinks/warc-record.js';
import { openStore } from '../store/store.js';
import { ControlError, type Control } from './control.js';
import { Desk } from './desk.js';

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
  const later = () => Promise.reject(new ControlError('not_supported', 'not supported by this crawl', 501));
  const changes = { pause: later, resume: later, seed: later, exclude: later };
  const control = new Desk({ dataDir, store, clock, terms, live: null, isPaused: false, changes });
  return { control, close: () => store.close() };
}
