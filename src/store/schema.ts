/**
 * The map of the database: every kind of row, its key byte by byte.
 *
 * One database, keys built by hand. The first byte is the kind, the second the partition that owns the row, so that
 * a partition can be read, moved or given away as a few ranges. Numbers are big-endian, so that byte order is their
 * order; host names are ASCII and end in a zero where something follows, so that `a.b` is no prefix of `a.bc`.
 *
 * | kind | key after the kind byte | value |
 * |---|---|---|
 * | `u` registry | partition, URL key (16) | URL record |
 * | `r` ready | partition, host, 0, class (1), sequence (8) | URL key |
 * | `w` waiting | partition, host, 0, due ms (8), sequence (8) | URL key |
 * | `p` parked | partition, host, 0, sequence (8) | URL key |
 * | `l` blocked | partition, host, 0, sequence (8) | URL key |
 * | `q` queue summary | partition, host | counts, heads, wake time |
 * | `s` host snapshot | partition, host | snapshot |
 * | `d` digest | payload digest | the newest full response with it: the archive is one, whatever the partition |
 * | `x` dead letter | partition, URL key (16) | dead letter |
 * | `v` redrive | number (8) | what was wished, and how far it has come |
 * | `f` file | name | committed length, start of the last append |
 * | `a` unsynced append | batch (8) | segments and visits of one batch since the last sync |
 * | `h` scope host | partition, host | nothing: that it is there says that the crawl may enter it |
 * | `z` poison | the whole key of the row that was set aside | reason, value |
 * | `m` meta | name | see META |
 *
 * 1. A kind byte is never given a second meaning. Those of RESERVED belong to rows to come.
 * 2. A change of a key's shape is a new SCHEMA_VERSION; a change of a value's is a new version of its tuple.
 */
import type { HostName, Origin } from '../domain/host.js';
import type { PriorityClass, QueuePosition } from '../domain/record.js';
import type { UrlKey } from '../domain/url.js';

/** 2: digests are keyed over all partitions, records say where they are archived. */
export const SCHEMA_VERSION = 2;

export const KIND = {
  unsynced: 0x61, // a
  digest: 0x64, // d
  file: 0x66, // f
  scopeHost: 0x68, // h
  blocked: 0x6c, // l
  meta: 0x6d, // m
  parked: 0x70, // p
  summary: 0x71, // q
  ready: 0x72, // r
  snapshot: 0x73, // s
  robots: 0x74, // t
  registry: 0x75, // u
  redrive: 0x76, // v
  waiting: 0x77, // w
  dead: 0x78, // x
  poison: 0x7a, // z
} as const;

/** Spoken for: outbox, Bloom filter pages, discovery cursors, near-duplicate tables, recrawl calendar. */
export const RESERVED = { outbox: 0x6f, bloom: 0x62, discovery: 0x63, near: 0x6e, recrawl: 0x6b } as const;

export type Kind = (typeof KIND)[keyof typeof KIND];

const URL_KEY_BYTES = 16;
const UINT32 = 2 ** 32;

// -- keys -------------------------------------------------------------------------------------------------------

export function registryKey(partition: number, key: UrlKey): Buffer {
  return keyedKey(KIND.registry, partition, key);
}

export function deadKey(partition: number, key: UrlKey): Buffer {
  return keyedKey(KIND.dead, partition, key);
}

export function summaryKey(partition: number, host: HostName): Buffer {
  return hostKey(KIND.summary, partition, host);
}

export function snapshotKey(partition: number, host: HostName): Buffer {
  return hostKey(KIND.snapshot, partition, host);
}

export function scopeHostKey(partition: number, host: HostName): Buffer {
  return hostKey(KIND.scopeHost, partition, host);
}

/** One row an origin, below its host, so that a host's rules are read in one range. */
export function robotsKey(partition: number, host: HostName, origin: Origin): Buffer {
  return Buffer.concat([robotsRange(partition, host).gte, Buffer.from(origin, 'latin1')]);
}

export function robotsRange(partition: number, host: HostName): Range {
  const prefix = hostKey(KIND.robots, partition, host);
  return { gte: Buffer.concat([prefix, Buffer.of(0)]), lt: Buffer.concat([prefix, Buffer.of(1)]) };
}

export function originOfKey(key: Buffer): Origin {
  return key.toString('latin1', key.indexOf(0, 2) + 1);
}

export function digestKey(payloadDigest: string): Buffer {
  return namedKey(KIND.digest, payloadDigest);
}

export function fileKey(name: string): Buffer {
  return namedKey(KIND.file, name);
}

export function unsyncedKey(batch: number): Buffer {
  return numberedKey(KIND.unsynced, batch);
}

export function redriveKey(number: number): Buffer {
  return numberedKey(KIND.redrive, number);
}

export function poisonKey(row: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(1 + row.length);
  key[0] = KIND.poison;
  key.set(row, 1);
  return key;
}

/**
 * Rows of the kind `m`: `schema` (version), `state` (batch, sequence, totals: in every batch), `running` (there while a
 * process has it open), `settings` (what its operators wish), `told` (what the last run was told), `sorted` (the first
 * archive file whose index may not be).
 */
export const META = {
  schema: namedKey(KIND.meta, 'schema'),
  state: namedKey(KIND.meta, 'state'),
  running: namedKey(KIND.meta, 'running'),
  told: namedKey(KIND.meta, 'told'),
  sorted: namedKey(KIND.meta, 'sorted'),
  settings: namedKey(KIND.meta, 'settings'),
} as const;

/** Where a row of a back queue stands. */
export function positionKey(partition: number, host: HostName, at: QueuePosition): Buffer {
  switch (at.queue) {
    case 'ready':
      return readyKey(partition, host, at.priority, at.sequence);
    case 'waiting': {
      const key = queueKey(KIND.waiting, partition, host, 16);
      putUint64(key, key.length - 16, Math.floor(at.dueAtMs));
      putUint64(key, key.length - 8, at.sequence);
      return key;
    }
    case 'parked':
    case 'blocked': {
      const key = queueKey(KIND[at.queue], partition, host, 8);
      putUint64(key, key.length - 8, at.sequence);
      return key;
    }
  }
}

export function readyKey(partition: number, host: HostName, priority: number, sequence: number): Buffer {
  const key = queueKey(KIND.ready, partition, host, 9);
  key[key.length - 9] = priority;
  putUint64(key, key.length - 8, sequence);
  return key;
}

/** The URL key as the 16 bytes that queue rows hold. */
export function urlKeyBytes(key: UrlKey): Buffer {
  return Buffer.from(key, 'hex');
}

// -- ranges -----------------------------------------------------------------------------------------------------

export interface Range {
  readonly gte: Buffer;
  readonly lt: Buffer;
}

export function kindRange(kind: Kind): Range {
  return { gte: Buffer.of(kind), lt: Buffer.of(kind + 1) };
}

/** All rows of one queue of a host. */
export function queueRange(queue: QueuePosition['queue'], partition: number, host: HostName): Range {
  const gte = queueKey(KIND[queue], partition, host, 0);
  const lt = Buffer.from(gte);
  lt[lt.length - 1] = 1;
  return { gte, lt };
}

/** The blocked rows of a host, from a sequence on. */
export function blockedRange(partition: number, host: HostName, fromSequence: number): Range {
  const gte = positionKey(partition, host, { queue: 'blocked', sequence: fromSequence });
  return { gte, lt: queueRange('blocked', partition, host).lt };
}

/** The ready rows of one class, from a sequence on. */
export function readyRange(partition: number, host: HostName, priority: number, fromSequence: number): Range {
  return { gte: readyKey(partition, host, priority, fromSequence), lt: readyKey(partition, host, priority + 1, 0) };
}

// -- reading keys -----------------------------------------------------------------------------------------------

/** Of a row of `u` or `x`. */
export function urlKeyOf(key: Buffer): UrlKey {
  return key.toString('hex', 2, 2 + URL_KEY_BYTES);
}

/** Of a row of `q` or `s`. */
export function hostOfKey(key: Buffer): HostName {
  return key.toString('latin1', 2);
}

/** Of a row of `v`; null when the key is no such row. */
export function redriveOfKey(key: Buffer): number | null {
  return key.length === 9 ? uint64At(key, 1) : null;
}

export function fileOfKey(key: Buffer): string {
  return key.toString('utf8', 1);
}

/** Of a row of a back queue; null when the key is no such row. */
export function positionOf(key: Buffer): QueuePosition | null {
  const end = key.length;
  const sequence = end > 8 ? uint64At(key, end - 8) : null;
  if (sequence === null) return null;
  switch (key[0]) {
    case KIND.ready: {
      const priority = key[end - 9] as number;
      return priority < 8 ? { queue: 'ready', priority: priority as PriorityClass, sequence } : null;
    }
    case KIND.waiting: {
      const dueAtMs = end > 16 ? uint64At(key, end - 16) : null;
      return dueAtMs === null ? null : { queue: 'waiting', dueAtMs, sequence };
    }
    case KIND.parked:
      return { queue: 'parked', sequence };
    case KIND.blocked:
      return { queue: 'blocked', sequence };
    default:
      return null;
  }
}

// -- bytes ------------------------------------------------------------------------------------------------------

function keyedKey(kind: Kind, partition: number, urlKey: UrlKey): Buffer {
  const key = Buffer.allocUnsafe(2 + URL_KEY_BYTES);
  key[0] = kind;
  key[1] = partition;
  const written = key.write(urlKey, 2, URL_KEY_BYTES, 'hex');
  if (written !== URL_KEY_BYTES) throw new Error(`not a URL key: ${urlKey}`);
  return key;
}

function hostKey(kind: Kind, partition: number, text: string): Buffer {
  const key = Buffer.allocUnsafe(2 + text.length);
  key[0] = kind;
  key[1] = partition;
  key.write(text, 2, 'latin1');
  return key;
}

function numberedKey(kind: Kind, number: number): Buffer {
  const key = Buffer.allocUnsafe(9);
  key[0] = kind;
  putUint64(key, 1, number);
  return key;
}

function namedKey(kind: Kind, name: string): Buffer {
  return Buffer.concat([Buffer.of(kind), Buffer.from(name)]);
}

/** Kind, partition, host, 0 and room for what follows. */
function queueKey(kind: Kind, partition: number, host: HostName, room: number): Buffer {
  const length = 3 + host.length + room;
  const key = Buffer.allocUnsafe(length);
  key[0] = kind;
  key[1] = partition;
  key.write(host, 2, 'latin1');
  key[length - room - 1] = 0;
  return key;
}

function putUint64(bytes: Buffer, at: number, value: number): void {
  if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw new Error(`no place in a key for ${value}`);
  const high = Math.floor(value / UINT32);
  bytes.writeUInt32BE(high, at);
  bytes.writeUInt32BE(value - high * UINT32, at + 4);
}

/** Null beyond 2^53: no key of ours. */
function uint64At(bytes: Buffer, at: number): number | null {
  const value = bytes.readUInt32BE(at) * UINT32 + bytes.readUInt32BE(at + 4);
  return Number.isSafeInteger(value) ? value : null;
}
