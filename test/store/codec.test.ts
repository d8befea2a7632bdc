/** D6: values come back as they were, and anything else is poison, never an exception. */
import fc from 'fast-check';
import { pack, unpack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../src/domain/outcome.js';
import type { HostSnapshot } from '../../src/protocols/host-snapshot.js';
import * as codec from '../../src/store/codec.js';
import { positionKey, positionOf } from '../../src/store/schema.js';
import { keyOf, recordOf, SNAPSHOT } from './parts.js';

const RECORD = recordOf('http://a.test/ü', {
  state: 'active',
  attempts: [{ atMs: 1.5, outcome: 'fetched', code: 'ok', status: 200, tier: 1, durationMs: 3 }],
  robots: { rule: { text: 'Allow: /', line: 3 }, fetchedAtMs: 9, status: 200, copy: 'last_good' },
  etag: 'W/"x"',
  element: 'a',
  archived: { url: 'http://b.test/', recordId: 'urn:uuid:1', atMs: 7, payloadDigest: 'sha1:A' },
});

const decoders: readonly (readonly [string, (bytes: Uint8Array) => unknown])[] = [
  ['record', (bytes) => codec.decodeRecord(bytes, RECORD.key, RECORD.host)],
  ['dead letter', (bytes) => codec.decodeDead(bytes, RECORD.key)],
  ['counts', codec.decodeCounts],
  ['snapshot', codec.decodeSnapshot],
  ['digest', codec.decodeDigest],
  ['file', codec.decodeFile],
  ['unsynced batch', codec.decodeUnsynced],
  ['state', codec.decodeState],
  ['version', codec.decodeVersion],
];

/** As of one on whose behalf redirects have led there. */
const CHAINED = recordOf('http://a.test/b', {
  state: 'queued',
  chain: {
    steps: [
      { key: keyOf('x'), cookies: 0x811c9dc5 },
      { key: keyOf('http://a.test/b'), cookies: 0 },
    ],
    cookies: [
      { name: 's', value: '1', domain: 'a.test', hostOnly: true, path: '/', secure: false, expiresAtMs: null },
      { name: 't', value: '', domain: 'test', hostOnly: false, path: '/b', secure: true, expiresAtMs: 5 },
    ],
  },
});

/** Of a host that has let a browser in. */
const CLIMBED: HostSnapshot = {
  ...SNAPSHOT,
  ladder: {
    need: { tier: 3, cause: 'challenge', believedUntilMs: 9.5, believedForMs: 7, clearance: 'spurned' },
    clearance: {
      scheme: 'https',
      userAgent: 'Browser/1',
      expiresAtMs: 8,
      cookies: [
        { name: 'a', value: '1', domain: '.a.test', path: '/', expiresAtMs: 8 },
        { name: 'b', value: '', domain: 'a.test', path: '/b', expiresAtMs: null },
      ],
    },
  },
  browserTime: { day: 20_000, usedMs: 599_999 },
  retryBudget: { left: -0.75, atMs: 1_700_000_000_001 },
};

describe('the codec of rows', () => {
  it('gives back what it was given', () => {
    const copy = (it: Buffer) => Buffer.from(it);
    expect(codec.decodeRecord(copy(codec.encodeRecord(RECORD)), RECORD.key, RECORD.host)).toEqual(RECORD);
    const detailed = {
      ...RECORD,
      attempts: [...RECORD.attempts, { ...RECORD.attempts[0], detail: 'in words' } as Attempt],
    };
    expect(codec.decodeRecord(copy(codec.encodeRecord(detailed)), RECORD.key, RECORD.host)).toEqual(detailed);
    expect(codec.decodeTold(codec.encodeTold('told'))).toBe('told');
    expect(codec.decodeSnapshot(codec.encodeSnapshot(SNAPSHOT))).toEqual(SNAPSHOT);
    expect(codec.decodeSnapshot(codec.encodeSnapshot(CLIMBED))).toEqual(CLIMBED);
    for (const ladder of [1, 2, 3] as const) {
      const stepped = { ...RECORD, ladder };
      expect(codec.decodeRecord(copy(codec.encodeRecord(stepped)), RECORD.key, RECORD.host)).toEqual(stepped);
    }
    const unstamped = { ...SNAPSHOT, stamp: null };
    expect(codec.decodeSnapshot(codec.encodeSnapshot(unstamped))).toEqual(unstamped);
    const letter = {
      url: 'http://a.test/',
      key: keyOf('x'),
      host: 'a.test',
      cause: 'c',
      code: 'timeout',
      deliveries: 8,
      firstAtMs: 1,
      lastAtMs: 2,
      attempts: RECORD.attempts,
    } as const;
    expect(codec.decodeDead(codec.encodeDead(letter), letter.key)).toEqual(letter);
    const counts = {
      ready: [1, 0, 0, 0, 0, 0, 0, 2],
      heads: [2 ** 40, 0, 0, 0, 0, 0, 0, 5],
      waiting: 1,
      parked: 0,
      blocked: 7,
      wakeAtMs: null,
    };
    expect(codec.decodeCounts(codec.encodeCounts(counts))).toEqual(counts);
  });

  it.each(decoders)('D6: takes any rubbish for a %s as poison', (_, decode) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(decode(bytes)).toBeInstanceOf(codec.Poison);
      }),
      { seed: 7 },
    );
  });

  it('P6: a chain comes back as it was, with its cookies or without any; half of one is poison', () => {
    const decoded = (row: Uint8Array) => codec.decodeRecord(Buffer.from(row), CHAINED.key, CHAINED.host);
    const { chain } = CHAINED;
    for (const cookies of [chain?.cookies ?? [], [], null]) {
      const record = { ...CHAINED, chain: chain === null ? null : { ...chain, cookies } };
      expect(decoded(codec.encodeRecord(record))).toEqual(record);
    }
    const steps = [
      ['k', 1],
      ['l', 2],
    ];
    const cookie: unknown[] = ['s', '1', 'a.test', true, '/', false, null];
    const broken: unknown[] = [[], [steps], [steps, [], 1], [[['k', 1]], []], [[['k'], ['l', 2]], []], [steps, 'x'], 7];
    for (const at of cookie.keys()) broken.push([steps, [cookie.with(at, at === 6 ? 'soon' : 5)]]);
    for (const wrong of broken) {
      const row = unpack(codec.encodeRecord(CHAINED)) as unknown[];
      row[20] = wrong;
      expect(decoded(pack(row))).toBeInstanceOf(codec.Poison);
    }
  });

  it.each([RECORD, CHAINED])(
    'D6: a record with any one byte changed is read or is poison, never an exception',
    (record) => {
      const bytes = Buffer.from(codec.encodeRecord(record));
      for (let i = 0; i < bytes.length; i++) {
        for (const flip of [1, 0x80, 0xff]) {
          const changed = Buffer.from(bytes);
          changed[i] = (changed[i] as number) ^ flip;
          expect(() => codec.decodeRecord(changed, record.key, record.host)).not.toThrow();
        }
        expect(codec.decodeRecord(bytes.subarray(0, i), record.key, record.host)).toBeInstanceOf(codec.Poison);
      }
    },
  );

  it('reads records and unsynced batches of earlier versions: of what they did not have, nothing', () => {
    const { element: _, archived: __, ...known } = RECORD;
    const row = unpack(codec.encodeRecord(RECORD)) as unknown[];
    const first = pack([1, ...row.slice(1, 18)]);
    expect(codec.decodeRecord(first, RECORD.key, RECORD.host)).toEqual({ ...known, element: null, archived: null });
    const second = pack([2, ...row.slice(1, 20)]);
    expect(codec.decodeRecord(second, RECORD.key, RECORD.host)).toEqual({ ...RECORD, chain: null });
    const third = pack([3, ...row.slice(1, 21)]);
    expect(codec.decodeRecord(third, RECORD.key, RECORD.host)).toEqual({ ...RECORD, ladder: null });
    const batch = { segments: [{ file: 'f', start: 1, end: 2 }], visits: [{ key: 'k', host: 'h' }], pages: 3 };
    const earlier = pack([1, [['f', 1, 2]], [['k', 'h']], 3]);
    expect(codec.decodeUnsynced(earlier)).toEqual({ ...batch, digests: [] });
    expect(codec.decodeUnsynced(codec.encodeUnsynced({ ...batch, digests: ['sha1:A'] }))).toEqual({
      ...batch,
      digests: ['sha1:A'],
    });
  });

  it('D6: a snapshot whose ladder is broken is poison; one from before there was any stands on the ground', () => {
    const row = unpack(codec.encodeSnapshot(CLIMBED)) as unknown[];
    const [need, clearance] = row[8] as unknown[][] as [unknown[], unknown[]];
    const decoded = (climbs: unknown) => codec.decodeSnapshot(Buffer.from(pack(row.with(8, climbs))));
    expect(decoded([need, clearance, 1, 2])).not.toBeInstanceOf(codec.Poison);
    for (const at of need.keys()) expect(decoded([need.with(at, null), clearance, 1, 2])).toBeInstanceOf(codec.Poison);
    expect(decoded([need.with(0, 1), clearance, 1, 2])).toBeInstanceOf(codec.Poison);
    for (const at of clearance.keys())
      expect(decoded([need, clearance.with(at, true), 1, 2])).toBeInstanceOf(codec.Poison);
    for (const wrong of [[], [need, clearance, -1, 2], [need, clearance, 1, 'x'], [need, clearance, 1], null, 'x'])
      expect(decoded(wrong)).toBeInstanceOf(codec.Poison);
    expect(codec.decodeSnapshot(Buffer.from(pack([3, ...row.slice(1, 8)])))).toEqual({
      ...SNAPSHOT,
      ladder: { need: null, clearance: null },
      browserTime: { day: 0, usedMs: 0 },
      retryBudget: null,
    });
  });

  it('orders keys as queues are ordered, and reads positions back', () => {
    const sequences = [0, 1, 255, 256, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER];
    const keys = sequences.map((sequence) => positionKey(7, 'a.test', { queue: 'parked', sequence }));
    expect([...keys].sort(Buffer.compare)).toEqual(keys);
    expect(keys.map((it) => positionOf(it)?.sequence)).toEqual(sequences);
    expect(() => positionKey(7, 'a.test', { queue: 'parked', sequence: 2 ** 53 })).toThrow();
    const waiting = { queue: 'waiting', dueAtMs: 1_700_000_000_000, sequence: 3 } as const;
    expect(positionOf(positionKey(7, 'a.test', waiting))).toEqual(waiting);
  });

  it('rows of before blocked queues, validators and whole evidence are still read', () => {
    const old = (row: readonly unknown[]): Buffer => Buffer.from(pack(row));
    const eight = new Array<number>(8).fill(1);
    expect(codec.decodeCounts(old([1, 2, 3, 99, ...eight, ...eight]))).toMatchObject({
      waiting: 2,
      parked: 3,
      blocked: 0,
    });
    const breaker = { phase: 'closed', failures: 0 };
    expect(codec.decodeSnapshot(old([1, breaker, { consecutive: 0 }, null, null, 4]))).toMatchObject({
      requests: 4,
      recheckFrom: null,
    });
    const rules = { rules: [], crawlDelaySeconds: null, sitemaps: [], bytes: 0 };
    const copy = { rules, fetchedAtMs: 5, status: 200 };
    expect(codec.decodeRobots(old([1, { phase: 'fresh', ...copy }]))).toMatchObject({ status: 200, validators: null });
    const lost = { phase: 'unreachable', sinceMs: 1, retryAtMs: 2, attempts: 1, lastGood: copy };
    expect(codec.decodeRobots(old([1, lost]))).toMatchObject({ lastGood: { status: 200, validators: null } });
    expect(codec.decodeRobots(old([2, { phase: 'fresh', ...copy, validators: { url: 'x', etag: 5 } }]))).toBeInstanceOf(
      codec.Poison,
    );
    const row = unpack(codec.encodeRecord(RECORD)) as unknown[];
    row[17] = ['Disallow: /x', 4, 9];
    expect(codec.decodeRecord(old(row), RECORD.key, RECORD.host)).toMatchObject({
      robots: { rule: { text: 'Disallow: /x', line: 4 }, fetchedAtMs: 9, status: null, copy: 'current' },
    });
    row[17] = ['Disallow: /x', 'four', 9];
    expect(codec.decodeRecord(old(row), RECORD.key, RECORD.host)).toBeInstanceOf(codec.Poison);
  });
});
