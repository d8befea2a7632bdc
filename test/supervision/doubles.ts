/** Ports that do nothing but what a test tells them to, and keep what was said to them. */
import type { FetchResult } from '../../src/domain/fetching.js';
import type { FetchPort, LogPort, Ports, StorePort } from '../../src/protocols/ports.js';

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, string | number | boolean | null>>;
}

export interface PortDoubles extends Ports {
  readonly lines: LogLine[];
  readonly released: number[];
}

type Overrides = Partial<Omit<Ports, 'store' | 'tiers'>> & {
  readonly tiers?: Partial<Ports['tiers']>;
  readonly store?: Partial<StorePort>;
  readonly net?: Partial<FetchPort>;
};

const never = (): Promise<never> => new Promise(() => undefined);

/** Ports on the real clock whose questions are never answered, but for what the test overrides. */
export function portDoubles(overrides: Overrides = {}): PortDoubles {
  const lines: LogLine[] = [];
  const released: number[] = [];
  const logs: LogPort = { log: (level, event, fields) => void lines.push({ level, event, fields }) };
  const silentStore: StorePort = {
    commit: never,
    reopen: never,
    loadHost: never,
    readQueue: never,
    readBlocked: never,
    listHosts: never,
    eachKey: never,
    countDeaths: never,
    readRecord: never,
    readSummary: never,
    readStanding: never,
    readDead: never,
    listDead: never,
    readRedrivable: never,
    listRedrives: never,
    noteRun: never,
    lastRun: never,
    readSettings: never,
    listSummaries: never,
    opened: () => {
      throw new Error('this store was never opened');
    },
    close: () => Promise.resolve(),
  };
  const { store, net, tiers, ...rest } = overrides;
  return {
    clock: { monotonicMs: () => performance.now(), wallMs: () => Date.now() },
    chance: () => 0.5,
    names: { resolve: never },
    parsers: { parse: never },
    logs,
    announce: () => undefined,
    ...rest,
    store: { ...silentStore, ...store },
    tiers: {
      1: { fetch: never as () => Promise<FetchResult>, release: (bytes) => void released.push(bytes), ...net },
      ...tiers,
    },
    lines,
    released,
  };
}
