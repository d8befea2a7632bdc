import { describe, expect, it } from 'vitest';
import { host } from '../../src/actors/host.js';
import type { Props } from '../../src/actors/host-state.js';
import type { FetchRequest } from '../../src/domain/fetching.js';
import type { QueueEntry } from '../../src/domain/record.js';
import { SUSPECT_WAIT_MS } from '../../src/policy/history.js';
import { type CrawlRules, rulesOf } from '../../src/policy/admission.js';
import { ROBOTS_REFRESH_MARGIN_MS, ROBOTS_TTL_MS } from '../../src/policy/robots/freshness.js';
import { ALLOW_ALL } from '../../src/policy/robots/rules.js';
import type { HostPart } from '../../src/protocols/commit.js';
import type { QueueHead } from '../../src/protocols/effects.js';
import type { Visited } from '../../src/protocols/frontier.js';
import { UNTOUCHED } from '../../src/protocols/host-snapshot.js';
import type { Permit } from '../../src/protocols/workbench.js';
import { ADDRESSES, NAME, PROPS } from './support/host-world.js';
import { WALL_AHEAD_MS } from './support/instants.js';
import { ANY_RULES, candidateOf, entryAt, headOf, readyEntry, settingsOf } from './support/records.js';
import { responseOf } from './support/responses.js';
import { of, Stage, told } from './support/stage.js';

const ORIGIN = `http://${NAME}`;
const page = (sequence: number) => readyEntry(`${ORIGIN}/${sequence}`, sequence);
const OPEN = { phase: 'fresh', rules: ALLOW_ALL, status: 200, fetchedAtMs: WALL_AHEAD_MS, validators: null } as const;

/** Live, with these rows; its robots.txt is known and allows all, unless `unknown`. */
function live(head: Partial<QueueHead>, robots: 'known' | 'unknown' = 'known', props: Partial<Props> = {}) {
  const stage = new Stage(host, { ...PROPS, ...props });
  stage.tell({ type: 'wake', wake: 1 });
  stage.take();
  const entries = robots === 'known' ? [{ origin: ORIGIN, state: OPEN }] : [];
  stage.tell({ type: 'hostLoaded', host: NAME, snapshot: null, robots: entries, summary: null, head: headOf(head) });
  return stage;
}
type LiveStage = ReturnType<typeof live>;

const PLAIN_ANSWER = { ...responseOf(200), body: new Uint8Array(0) };

let permits = 0;
function grant(stage: LiveStage, rules: CrawlRules = ANY_RULES): number {
  const number = ++permits;
  const permit: Permit = {
    number,
    host: NAME,
    address: { address: '192.0.2.1', family: 4 },
    tier: 1,
    fetcher: 0,
    delivery: 'retry',
    expiresAtMs: stage.nowMs + 5_000,
    deadlineMs: stage.nowMs + 25_000,
    rules,
  };
  stage.tell({ type: 'granted', permit });
  return number;
}

/** What was said in short: the type of each message, and of each question to the outside. */
function said(stage: LiveStage): string[] {
  return stage
    .take()
    .flatMap((effect) => (effect.do === 'send' ? [effect.message.type] : effect.do === 'log' ? [] : [effect.do]));
}

function redirectTo(stage: LiveStage, permit: number, url: string, ...setCookies: readonly string[]): void {
  stage.tell({
    type: 'fetched',
    permit,
    result: {
      kind: 'response',
      status: 301,
      statusText: '',
      httpVersion: '1.1',
      headers: [['location', url], ...setCookies.map((it) => ['Set-Cookie', it] as const)],
      rawHead: null,
      sentHead: null,
      body: new Uint8Array(0),
      cut: false,
      durationMs: 5,
      remoteAddress: '192.0.2.1',
    },
  });
  stage.tell({
    type: 'parsed',
    permit,
    result: {
      kind: 'parsed',
      payloadDigest: 'x',
      contentDigest: 'x',
      decodedBytes: 0,
      page: null,
      redirect: candidateOf(url, { source: 'redirect' }),
      decoded: new Uint8Array(0),
      archive: null,
      parseMicros: 1,
    },
  });
}

const partsIn = (stage: LiveStage): HostPart[] =>
  told(stage.take()).flatMap(({ message }) =>
    message.type === 'visited' ? [message.part as unknown as HostPart] : [],
  );
const recordAll = (stage: LiveStage, parts: readonly HostPart[], ready: number, blocked = 0) =>
  stage.tell({ type: 'recorded', tickets: parts.map(({ ticket }) => ticket), ready, blocked });

describe('a host and what overtakes its reads', () => {
  it('D1: a wake while it reads: what was read may not show what it is woken for, and is read again', () => {
    const stage = live({ ready: [], readyComplete: false });
    expect(said(stage)).toEqual(['readQueue']);
    stage.tell({ type: 'wake', wake: 2 });
    stage.tell({ type: 'queueRead', host: NAME, head: headOf() });
    expect(said(stage)).toEqual(['readQueue']);
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ ready: [page(1)] }) });
    expect(said(stage)).toEqual(['resolve']);
  });

  it('D1: a second wake while it loads likewise; the one that brought it to life costs no second read', () => {
    for (const [wakes, expected] of [
      [1, 'rested'],
      [2, 'readQueue'],
    ] as const) {
      const stage = new Stage(host, PROPS);
      for (let wake = 1; wake <= wakes; wake++) stage.tell({ type: 'wake', wake });
      stage.take();
      stage.tell({ type: 'hostLoaded', host: NAME, snapshot: null, robots: [], summary: null, head: headOf() });
      expect(said(stage)).toEqual([expected]);
    }
  });

  it('D1: a wake after another message had brought it to life may be later than what is loaded', () => {
    const stage = new Stage(host, PROPS);
    stage.tell({
      type: 'fetched',
      permit: 9,
      result: { kind: 'failure', code: 'timeout', detail: '', status: null, durationMs: 1, reusedConnection: false },
    });
    expect(said(stage)).toEqual(['loadHost', 'closed']);
    stage.tell({ type: 'wake', wake: 1 });
    stage.tell({ type: 'hostLoaded', host: NAME, snapshot: null, robots: [], summary: null, head: headOf() });
    expect(said(stage)).toEqual(['readQueue']);
  });

  it('D2: a commit while it reads: the row that left with it is not offered again', () => {
    const stage = live({ ready: [page(1)], readyComplete: false });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const permit = grant(stage);
    stage.take();
    stage.tell({
      type: 'fetched',
      permit,
      result: { kind: 'failure', code: 'too_large', detail: '', status: 200, durationMs: 1, reusedConnection: false },
    });
    const effects = stage.take();
    expect(of(effects, 'readQueue')).toHaveLength(1);
    stage.tell({ type: 'recorded', tickets: [1], ready: 0, blocked: 0 });
    // As the store was before the commit.
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ ready: [page(1)] }) });
    expect(said(stage)).toEqual(['readQueue']);
    stage.tell({ type: 'queueRead', host: NAME, head: headOf() });
    expect(said(stage)).toEqual(['rested']);
  });

  it('D6: a store that can not be read is asked again a second later', () => {
    const stage = live({ failure: 'broken' });
    expect(said(stage)).toEqual([]);
    stage.pass(1_000);
    expect(said(stage)).toEqual(['loadHost']);
    stage.tell({
      type: 'hostLoaded',
      host: NAME,
      snapshot: null,
      robots: [],
      summary: null,
      head: headOf({ readyComplete: false }),
    });
    expect(said(stage)).toEqual(['readQueue']);
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ failure: 'broken' }) });
    stage.pass(999);
    expect(said(stage)).toEqual([]);
    stage.pass(1);
    expect(said(stage)).toEqual(['readQueue']);
  });
});

describe('a host at rest', () => {
  const restOf = (stage: LiveStage) => told(stage.take()).find(({ message }) => message.type === 'rested')?.message;

  it('R1: looks behind a window of waiting rows that shows none and is not whole', () => {
    const due = (sequence: number): QueueEntry =>
      entryAt({ queue: 'waiting', dueAtMs: WALL_AHEAD_MS + 500, sequence }, `${ORIGIN}/${sequence}`);
    const stage = live({ waiting: [], waitingComplete: false });
    expect(said(stage)).toEqual(['readQueue']);
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ waiting: [due(1)], waitingComplete: false }) });
    expect(restOf(stage)).toMatchObject({ left: null, wakeAtMs: WALL_AHEAD_MS + 500 });
  });

  it('P5: the quota is reached while the way to robots.txt leads on: it rests, and goes on when it is woken', () => {
    const stage = live({ ready: [page(1)] }, 'unknown', { quota: 1 });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const permit = grant(stage);
    stage.take();
    redirectTo(stage, permit, `${ORIGIN}/elsewhere.txt`);
    recordAll(stage, partsIn(stage), 1);
    expect(restOf(stage)).toMatchObject({ left: 0, wakeAtMs: null });
    stage.tell({ type: 'wake', wake: 2 });
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ ready: [page(1)] }) });
    grant(stage);
    const started = told(stage.take()).find(({ message }) => message.type === 'start');
    expect(started?.message.request).toMatchObject({ url: `${ORIGIN}/elsewhere.txt` });
  });

  it('P5: its name fails while the way to robots.txt leads on: it rests until the name may be asked for again', () => {
    const stage = live({ ready: [page(1)] }, 'unknown');
    stage.tell({ type: 'resolved', host: NAME, resolution: { ...ADDRESSES, expiresInMs: 10 } });
    const permit = grant(stage);
    stage.take();
    stage.pass(20);
    redirectTo(stage, permit, `${ORIGIN}/elsewhere.txt`);
    stage.tell({
      type: 'resolved',
      host: NAME,
      resolution: { kind: 'failed', code: 'dns_failed', detail: '', expiresInMs: 30_000 },
    });
    stage.tell({ type: 'blamed', about: { what: 'name' }, fault: 'theirs' });
    recordAll(stage, partsIn(stage), 0);
    expect(restOf(stage)).toMatchObject({ left: null, wakeAtMs: WALL_AHEAD_MS + stage.nowMs + 30_000 });
  });

  it('F16: the address is asked for anew when its time is over: the next request goes where the name leads then, on that clock', () => {
    const stage = live({ ready: [page(1), page(2), page(3)] });
    const asks: unknown[] = [];
    for (const [index, address] of ['192.0.2.1', '192.0.2.1', '198.51.100.7'].entries()) {
      expect(of(stage.take(), 'resolve')).toHaveLength(1);
      const resolution = { kind: 'addresses', addresses: [{ address, family: 4 }], expiresInMs: 50 } as const;
      stage.tell({ type: 'resolved', host: NAME, resolution });
      asks.push(...told(stage.take()).flatMap(({ message }) => (message.type === 'settle' ? [message.ask] : [])));
      const permit = grant(stage);
      stage.take();
      stage.pass(60);
      redirectTo(stage, permit, `http://b.example/${index}`);
    }
    expect(asks).toMatchObject([
      { address: { address: '192.0.2.1' }, addressClock: '192.0.2.1' },
      { address: { address: '192.0.2.1' }, addressClock: '192.0.2.1' },
      { address: { address: '198.51.100.7' }, addressClock: '198.51.100.7' },
    ]);
  });

  it('R1: ready rows behind a silence do not wait for a retry that falls due after it', () => {
    const later = entryAt({ queue: 'waiting', dueAtMs: WALL_AHEAD_MS + 600_000, sequence: 9 }, `${ORIGIN}/9`);
    const stage = live({ ready: [page(1), page(2)], waiting: [later] });
    stage.tell({
      type: 'resolved',
      host: NAME,
      resolution: { kind: 'failed', code: 'dns_failed', detail: '', expiresInMs: 30_000 },
    });
    stage.tell({ type: 'blamed', about: { what: 'name' }, fault: 'theirs' });
    // One row is charged for it; the other is still ready.
    recordAll(stage, partsIn(stage), 1);
    expect(restOf(stage)).toMatchObject({ wakeAtMs: WALL_AHEAD_MS + 30_000 });
  });

  it('P2, P7: a gate that is closed for longer than a minute is not waited for; it says when it opens', () => {
    for (const [delayMs, expected] of [
      [60_000, null],
      [60_001, { left: 2, wakeAtMs: WALL_AHEAD_MS + 60_001 }],
    ] as const) {
      const stage = live({ ready: [page(1), page(2)] }, 'known', { delayMs });
      stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
      const permit = grant(stage);
      stage.tell({
        type: 'fetched',
        permit,
        result: {
          kind: 'response',
          status: 404,
          statusText: '',
          httpVersion: '1.1',
          headers: [],
          rawHead: null,
          sentHead: null,
          body: new Uint8Array(0),
          cut: false,
          durationMs: 1,
          remoteAddress: '192.0.2.1',
        },
      });
      const parts = partsIn(stage);
      recordAll(stage, parts, 1);
      const rests = told(stage.take()).filter(({ message }) => message.type === 'rested');
      if (expected === null) expect(rests).toEqual([]);
      else expect(rests).toMatchObject([{ message: expected }]);
    }
  });

  it('P7: its window is what it can ask for within a minute, and of that at most what it may hold', () => {
    const rows = Array.from({ length: 64 }, (_, n) => page(n + 1));
    for (const [delayMs, held] of [
      [0, 64],
      [1_000, 60],
      [10_000, 6],
      [600_000, 4],
    ] as const) {
      const stage = live({ ready: rows }, 'known', { delayMs, window: 64 });
      if (stage.state.phase !== 'live') throw new Error('it is not live');
      expect([stage.state.queue.ready.length, stage.state.queue.readyComplete]).toEqual([held, held === 64]);
    }
  });

  it('passivates when it has rested for its time, and tries again where a message forbade it', () => {
    const stage = live({});
    stage.take();
    stage.pass(9_999);
    expect(said(stage)).toEqual([]);
    stage.pass(1);
    expect(said(stage)).toEqual(['passivate']);
    stage.pass(10_000);
    expect(said(stage)).toEqual(['passivate']);
  });
});

describe('a host and what got lost', () => {
  it('P1: a body that is lost in a parser does not make it ask while another request flies', () => {
    const stage = live({ ready: [page(1), page(2), page(3)] });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const first = grant(stage);
    stage.tell({
      type: 'fetched',
      permit: first,
      result: {
        kind: 'response',
        status: 200,
        statusText: '',
        httpVersion: '1.1',
        headers: [],
        rawHead: null,
        sentHead: null,
        body: new Uint8Array(1),
        cut: false,
        durationMs: 1,
        remoteAddress: '',
      },
    });
    grant(stage);
    stage.take();
    stage.tell({ type: 'visitLost', permit: first });
    expect(said(stage)).toEqual([]);
  });

  it('B3: a probe that is lost leaves the breaker open, not half open for ever', () => {
    const stage = live({ ready: [page(1)] });
    if (stage.state.phase !== 'live') throw new Error('not live');
    stage.state.snapshot = { ...stage.state.snapshot, breaker: { phase: 'open', untilMs: 0, openings: 1 } };
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const permit = grant(stage);
    expect(stage.state.snapshot.breaker.phase).toBe('half_open');
    stage.tell({ type: 'visitLost', permit });
    expect(stage.state.snapshot.breaker).toMatchObject({ phase: 'open', openings: 1 });
  });

  it('S1: a refused address settles every row, the parked ones too; an errand is declined', () => {
    const parked = entryAt({ queue: 'parked', sequence: 2 }, `https://${NAME}/2`);
    const stage = live({ ready: [page(1)], parked: [parked] });
    stage.tell({ type: 'errand', for: 'b.example', origin: 'http://b.example', url: `${ORIGIN}/x`, validators: null });
    stage.take();
    stage.tell({
      type: 'resolved',
      host: NAME,
      resolution: { kind: 'refused', detail: 'loopback', expiresInMs: 60_000 },
    });
    const effects = stage.take();
    const moves = told(effects).flatMap(({ message }) =>
      message.type === 'visited' ? (message.part as unknown as HostPart).moves : [],
    );
    expect(moves.map(({ from, to, record }) => [from.sequence, to, record.attempts.at(-1)?.code])).toEqual([
      [1, null, 'guard_refused'],
      [2, null, 'guard_refused'],
    ]);
    expect(told(effects).find(({ message }) => message.type === 'errandDone')?.message).toMatchObject({
      origin: 'http://b.example',
      found: { kind: 'failure', code: 'guard_refused' },
    });
  });

  it('P1: a permit for which it has no use is given back', () => {
    const stage = live({});
    stage.take();
    const permit = grant(stage);
    expect(told(stage.take()).map(({ message }) => message)).toEqual([{ type: 'returned', permit, host: NAME }]);
  });

  it('B4: a visit whose part could not be recorded is a failed delivery, and its permit is closed', () => {
    const stage = live({ ready: [page(1)] });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const permit = grant(stage);
    stage.take();
    stage.tell({
      type: 'fetched',
      permit,
      result: {
        kind: 'failure',
        code: 'too_large',
        detail: '',
        status: 200,
        durationMs: 1,
        reusedConnection: false,
      },
    });
    const [first] = partsIn(stage);
    stage.tell({ type: 'unrecorded', ticket: first?.ticket ?? 0, permit });
    const [second] = partsIn(stage);
    expect(second?.permit).toBe(permit);
    expect(second?.moves).toMatchObject([
      { from: { sequence: 1 }, to: { queue: 'waiting' }, record: { deliveries: 1, workerCrashes: 1 } },
    ]);
  });

  it('P2, B4: what a crash swallowed is still told to the gate: the unspent permit, the verdict', () => {
    const stage = live({ ready: [page(1)] });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const permit = grant(stage);
    stage.take();
    stage.crashOn(
      {
        type: 'fetched',
        permit,
        result: { kind: 'failure', code: 'timeout', detail: '', status: null, durationMs: 1, reusedConnection: false },
      },
      'drop',
    );
    expect(told(stage.take()).map(({ message }) => message)).toEqual([
      { type: 'settle', host: NAME, verdict: { permit, closedForMs: PROPS.delayMs }, network: null, ask: null },
      { type: 'hostRestarted', host: NAME },
      { type: 'fenceFor', host: NAME, epoch: 1 },
    ]);
  });
});

describe('a host and the rules of the crawl', () => {
  const excluding = (...exclude: string[]): CrawlRules => {
    const { configured, settings } = settingsOf({ exclude });
    return rulesOf(configured, settings);
  };
  const settledIn = (stage: LiveStage) => {
    const effects = stage.take();
    const parts = told(effects).flatMap(({ message }) =>
      message.type === 'visited' ? [message.part as unknown as HostPart] : [],
    );
    const codes = parts.flatMap(({ moves }) =>
      moves.map(({ record }) => [record.url, record.state, record.attempts.at(-1)?.code, record.deliveries]),
    );
    return { parts, codes, said: told(effects).map(({ message }) => message.type) };
  };
  const answered = (stage: LiveStage, permit: number) =>
    stage.tell({
      type: 'fetched',
      permit,
      result: { kind: 'failure', code: 'too_large', detail: '', status: 200, durationMs: 1, reusedConnection: false },
    });

  it('the last look settles what they refuse without a request and a delivery, and goes on with the rest', () => {
    const stage = live({ ready: [page(1), page(2)], readyComplete: true });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    stage.take();
    grant(stage, excluding('/1'));
    const { codes, said } = settledIn(stage);
    expect(codes).toEqual([[`${ORIGIN}/1`, 'refused', 'excluded', 0]]);
    expect(said).toEqual(['returned', 'visited', 'settle']);
    grant(stage, excluding('/1'));
    expect(of(stage.take(), 'send').map(({ message }) => message)).toMatchObject([
      { type: 'start', request: { url: `${ORIGIN}/2` } },
    ]);
  });

  it('D1: what an earlier permit excluded and nobody excludes any more is asked for', () => {
    const stage = live({ ready: [page(2)], readyComplete: false });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const first = grant(stage, excluding('/1'));
    answered(stage, first);
    const { parts } = settledIn(stage);
    recordAll(stage, parts, 1);
    // The first read was under way when its own commit came: it counts for nothing.
    stage.tell({ type: 'queueRead', host: NAME, head: headOf() });
    stage.take();
    stage.tell({ type: 'queueRead', host: NAME, head: headOf({ ready: [page(11)], readyComplete: true }) });
    expect(settledIn(stage)).toMatchObject({ codes: [], said: ['settle'] });
    grant(stage, ANY_RULES);
    expect(of(stage.take(), 'send').map(({ message }) => message)).toMatchObject([
      { type: 'start', request: { url: `${ORIGIN}/11` } },
    ]);
  });

  it('what is parked and excluded waits for no robots.txt', () => {
    const parked = entryAt({ queue: 'parked', sequence: 1 }, `${ORIGIN}/1`);
    const stage = live({ parked: [parked] }, 'unknown');
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    stage.take();
    grant(stage, excluding(NAME));
    expect(settledIn(stage)).toMatchObject({
      codes: [[`${ORIGIN}/1`, 'refused', 'excluded', 0]],
      said: expect.not.arrayContaining(['start']),
    });
  });
});

describe('what the process died of', () => {
  const worn = (deaths: number): QueueEntry => {
    const entry = page(1);
    return { ...entry, record: { ...entry.record, processDeaths: deaths } };
  };

  it('B4: is put off once in each life after two deaths, without a delivery, and then asked for', () => {
    const stage = live({ ready: [worn(2)], readyComplete: true });
    const parts = partsIn(stage);
    expect(parts[0]?.moves).toMatchObject([{ to: { queue: 'waiting' }, record: { deliveries: 0, state: 'waiting' } }]);
    const [move] = parts[0]?.moves ?? [];
    const waitMs = move?.to?.queue === 'waiting' ? move.to.dueAtMs - (stage.nowMs + WALL_AHEAD_MS) : 0;
    expect(waitMs).toBe(2 * SUSPECT_WAIT_MS);
    recordAll(stage, parts, 0);
    stage.take();
    stage.pass(waitMs);
    stage.take();
    stage.tell({ type: 'wake', wake: 2 });
    stage.tell({
      type: 'queueRead',
      host: NAME,
      head: headOf({ waiting: move?.to ? [{ at: move.to, record: move.record }] : [] }),
    });
    expect(said(stage)).toEqual(['resolve']);
  });

  it('B4: is a dead letter after three, and nothing is asked for', () => {
    const stage = live({ ready: [worn(3)], readyComplete: true });
    const effects = stage.take();
    const messages = told(effects).map(({ message }) => message);
    const [part] = messages.flatMap((it) => (it.type === 'visited' ? [it.part as unknown as HostPart] : []));
    expect(part?.moves).toMatchObject([{ to: null, record: { state: 'dead' } }]);
    expect(part?.dead).toMatchObject([{ code: 'process_died', cause: expect.stringContaining('3 times') }]);
    expect(messages.map(({ type }) => type)).not.toContain('settle');
  });
});

describe('a host and a page that it knows', () => {
  const DATE = new Date(WALL_AHEAD_MS - 86_400_000).toUTCString();
  const archived = { url: `${ORIGIN}/1`, recordId: 'urn:uuid:1', atMs: 1, payloadDigest: 'sha1:P' };
  const known = { etag: '"1"', lastModified: DATE, digest: 'sha1:C', archived };
  const told304 = (headers: readonly (readonly [string, string])[]) =>
    ({
      kind: 'response',
      status: 304,
      statusText: '',
      httpVersion: '1.1',
      headers,
      rawHead: null,
      sentHead: null,
      body: new Uint8Array(0),
      cut: false,
      durationMs: 5,
      remoteAddress: '192.0.2.1',
    }) as const;
  const emptyRead = (digest: string) =>
    ({
      kind: 'parsed',
      payloadDigest: digest,
      contentDigest: digest,
      decodedBytes: 0,
      page: null,
      redirect: null,
      decoded: null,
      archive: null,
      parseMicros: 1,
    }) as const;

  /** Asked for, and what the request carried beside what every one does. */
  function asked(record: Parameters<typeof readyEntry>[2], props: Partial<Props> = {}) {
    const stage = live({ ready: [readyEntry(`${ORIGIN}/1`, 1, record)] }, 'known', props);
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    stage.take();
    const permit = grant(stage);
    const started = told(stage.take()).find(({ message }) => message.type === 'start')?.message;
    const { headers } = (started as unknown as { request: { headers: [string, string][] } }).request;
    return { stage, permit, conditions: headers.slice(3) };
  }

  it('C08, L4: asks whether it has changed; a 304 is no change, renews what it says, and refers to what is archived', () => {
    const { stage, permit, conditions } = asked(known);
    expect(conditions).toEqual([
      ['if-none-match', '"1"'],
      ['if-modified-since', DATE],
    ]);
    stage.tell({ type: 'fetched', permit, result: told304([['ETag', '"2"']]) });
    stage.take();
    stage.tell({ type: 'parsed', permit, result: emptyRead('sha1:nothing') });
    const [part] = partsIn(stage);
    expect(part?.moves[0]?.to).toBeNull();
    expect(part?.moves[0]?.record).toMatchObject({ ...known, etag: '"2"', state: 'active' });
    expect(part?.visits[0]?.attempt).toMatchObject({ outcome: 'unchanged', code: 'not_modified', status: 304 });
    expect(part?.page).toMatchObject({ outcome: 'unchanged', status: 304, digest: 'sha1:C', mime: null });
  });

  it('asks plainly for what is not kept, and for what is no validator', () => {
    expect(asked({ ...known, digest: null }).conditions).toEqual([]);
    expect(asked({ ...known, archived: null }, { archive: true }).conditions).toEqual([]);
    expect(asked({ ...known, etag: 'x\r\nEvil: y', lastModified: 'never' }).conditions).toEqual([]);
  });

  it('a 304 that nobody asked for costs a delivery, and the second one in a row ends it', () => {
    const first = asked({});
    first.stage.tell({ type: 'fetched', permit: first.permit, result: told304([]) });
    const record = partsIn(first.stage)[0]?.moves[0]?.record;
    expect(record).toMatchObject({ state: 'waiting', deliveries: 1 });
    const second = asked(record);
    expect(second.conditions).toEqual([]);
    second.stage.tell({ type: 'fetched', permit: second.permit, result: told304([]) });
    expect(partsIn(second.stage)[0]?.moves[0]?.record.state).toBe('dead');
  });
});

describe('a host and its redirects (P6)', () => {
  const PAGE = `${ORIGIN}/1`;
  const target = candidateOf(PAGE);

  /** Asked for: the Cookie header, and what came of the redirect. */
  function redirected(record: Parameters<typeof readyEntry>[2], to: string, ...setCookies: readonly string[]) {
    const stage = live({ ready: [readyEntry(PAGE, 1, record)] });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    stage.take();
    const permit = grant(stage);
    const started = told(stage.take()).find(({ message }) => message.type === 'start')?.message;
    const { headers } = (started as unknown as { request: FetchRequest }).request;
    redirectTo(stage, permit, to, ...setCookies);
    const effects = stage.take();
    const visited = told(effects).find(({ message }) => message.type === 'visited')?.message as unknown as Visited;
    const cookie = headers.find(([name]) => name === 'cookie')?.[1] ?? null;
    return {
      stage,
      cookie,
      part: visited.part,
      found: visited.found,
      logs: of(effects, 'log').map(({ event }) => event),
    };
  }

  it('to itself with a cookie: the row stays where it is, uses no delivery, and is asked for with it next', () => {
    const { stage, cookie, part, found } = redirected({ deliveries: 2 }, PAGE, 's=1');
    expect([cookie, found]).toEqual([null, null]);
    const [move] = part.moves;
    expect(move?.to).toEqual(move?.from);
    expect(move?.record).toMatchObject({
      state: 'queued',
      deliveries: 2,
      attempts: [{ code: 'redirect', detail: PAGE }],
    });
    recordAll(stage, [part], 1);
    stage.take();
    grant(stage);
    const again = told(stage.take()).find(({ message }) => message.type === 'start')?.message;
    expect((again as unknown as { request: FetchRequest }).request.headers).toContainEqual(['cookie', 's=1']);
  });

  it('to itself without one: settled as a loop, with where it leads', () => {
    const { part, found } = redirected({}, PAGE);
    expect(found).toBeNull();
    expect(part.moves).toMatchObject([{ to: null, record: { state: 'refused', chain: null } }]);
    expect(part.visits).toMatchObject([{ attempt: { outcome: 'refused', code: 'redirect_loop', detail: PAGE } }]);
  });

  it('to another page: its chain goes with the candidate, and not with the record that redirects', () => {
    const { part, found, logs } = redirected({}, `${ORIGIN}/2`, 's=1');
    expect(part.moves).toMatchObject([{ to: null, record: { state: 'redirected', chain: null } }]);
    expect(found?.chain).toMatchObject({ steps: [{ key: target.key }, {}], cookies: [{ name: 's', value: '1' }] });
    expect(logs).not.toContain('cookies_dropped');
  });

  it('too many cookies: all are dropped, which is said once in a chain', () => {
    const first = redirected({}, `${ORIGIN}/2`, `s=${'x'.repeat(4_096)}`);
    expect(first.found?.chain?.cookies).toBeNull();
    expect(first.logs).toContain('cookies_dropped');
    const later = redirected({ chain: first.found?.chain ?? null }, `${ORIGIN}/3`, 's=1');
    expect([later.cookie, later.found?.chain?.cookies]).toEqual([null, null]);
    expect(later.logs).not.toContain('cookies_dropped');
  });

  it('what comes with a page is no redirect’s cookie: a body that was not read, a retry and a rest keep the chain', () => {
    const chain = redirected({}, `${ORIGIN}/2`, 's=1').found?.chain ?? null;
    for (const status of [429, 500]) {
      const stage = live({ ready: [readyEntry(`${ORIGIN}/2`, 1, { chain })] });
      stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
      stage.take();
      const permit = grant(stage);
      stage.take();
      const answer = { ...PLAIN_ANSWER, status, headers: [['set-cookie', 's=2']] as const };
      stage.tell({ type: 'fetched', permit, result: answer });
      expect(partsIn(stage)[0]?.moves).toMatchObject([{ to: {}, record: { chain } }]);
    }
  });
});

describe('a host and its robots.txt', () => {
  const ROBOTS = `${ORIGIN}/robots.txt`;
  const VALIDATORS = { url: ROBOTS, etag: '"1"', lastModified: null };
  const DISALLOWED = {
    rules: { ...ALLOW_ALL, rules: [{ allow: false, pattern: '/', line: 2, text: 'Disallow: /' }] },
    status: 200,
    validators: VALIDATORS,
  };
  const ranOut = WALL_AHEAD_MS - ROBOTS_TTL_MS;
  const blockedRow = (sequence: number) =>
    entryAt({ queue: 'blocked', sequence }, `${ORIGIN}/${sequence}`, { state: 'blocked_by_robots' });

  /** At rest, with two rows that its rules, which have run out, disallowed. */
  function blocking(fetchedAtMs = ranOut) {
    const stage = new Stage(host, PROPS);
    stage.tell({ type: 'wake', wake: 1 });
    stage.take();
    const summary = { host: NAME, ready: [], heads: [], waiting: 0, parked: 0, blocked: 2, wakeAtMs: null };
    const robots = [{ origin: ORIGIN, state: { phase: 'fresh', fetchedAtMs, ...DISALLOWED } as const }];
    stage.tell({ type: 'hostLoaded', host: NAME, snapshot: null, robots, summary, head: headOf() });
    return stage;
  }

  function askForRobots(stage: LiveStage): { permit: number; headers: readonly (readonly [string, string])[] } {
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    stage.take();
    const permit = grant(stage);
    const start = told(stage.take()).find(({ message }) => message.type === 'start')?.message as unknown as
      | { request: FetchRequest }
      | undefined;
    expect(start?.request.url).toBe(ROBOTS);
    return { permit, headers: start?.request.headers ?? [] };
  }

  function answer(stage: LiveStage, permit: number, status: number, body: string, headers: [string, string][] = []) {
    const bytes = new TextEncoder().encode(body);
    const head = { statusText: '', httpVersion: '1.1', rawHead: null, sentHead: null, cut: false } as const;
    const result = {
      kind: 'response',
      status,
      headers,
      body: bytes,
      durationMs: 5,
      remoteAddress: '',
      ...head,
    } as const;
    stage.tell({ type: 'fetched', permit, result });
    if (told(stage.take()).every(({ message }) => message.type !== 'read')) return;
    const digests = { payloadDigest: 'x', contentDigest: 'x', decodedBytes: bytes.length, parseMicros: 1 };
    const parsed = { kind: 'parsed', page: null, redirect: null, decoded: bytes, archive: null, ...digests } as const;
    stage.tell({ type: 'parsed', permit, result: parsed });
  }

  it('P4: rests until its rules run out where they disallow what it has, then asks on condition', () => {
    const early = blocking(ranOut + ROBOTS_REFRESH_MARGIN_MS + 1);
    expect(told(early.take()).at(-1)?.message).toMatchObject({
      type: 'rested',
      left: null,
      wakeAtMs: WALL_AHEAD_MS + 1,
    });
    const { headers } = askForRobots(blocking());
    expect(headers).toContainEqual(['if-none-match', '"1"']);
  });

  it('RFC 9110 §15.4.5: a 304 renews the copy; nothing is looked at again', () => {
    const stage = blocking();
    const { permit } = askForRobots(stage);
    answer(stage, permit, 304, '', [['etag', '"1"']]);
    const effects = stage.take();
    const [, part] = told(effects).flatMap(({ message }) =>
      message.type === 'visited' ? [message.part as unknown as HostPart] : [],
    );
    expect(part?.robots[0]?.state).toMatchObject({ ...DISALLOWED, phase: 'fresh', fetchedAtMs: WALL_AHEAD_MS });
    expect(part?.snapshot.recheckFrom).toBeNull();
    expect(of(effects, 'readBlocked')).toEqual([]);
  });

  it('P4: new rules: blocked rows are looked at when all of before is recorded, and what is allowed is ready', () => {
    const stage = blocking();
    const { permit } = askForRobots(stage);
    answer(stage, permit, 200, 'User-agent: *\nDisallow: /1', [['etag', 'no validator']]);
    const effects = stage.take();
    const parts = told(effects).flatMap(({ message }) =>
      message.type === 'visited' ? [message.part as unknown as HostPart] : [],
    );
    expect(parts.at(-1)?.snapshot.recheckFrom).toBe(0);
    expect(parts.at(-1)?.robots[0]?.state).toMatchObject({ phase: 'fresh', validators: null });
    expect(of(effects, 'readBlocked')).toEqual([]);
    recordAll(stage, parts.slice(0, -1), 0, 2);
    expect(of(stage.take(), 'readBlocked')).toEqual([]);
    recordAll(stage, parts.slice(-1), 0, 2);
    expect(of(stage.take(), 'readBlocked')).toEqual([{ do: 'readBlocked', host: NAME, from: 0, limit: PROPS.window }]);
    const rows = { entries: [blockedRow(1), blockedRow(2)], complete: true, notes: [], failure: null };
    stage.tell({ type: 'blockedRead', host: NAME, rows });
    const [looked] = partsIn(stage);
    expect(looked?.moves).toMatchObject([
      { from: { queue: 'blocked' }, to: { queue: 'blocked' }, record: { robots: { rule: { text: 'Disallow: /1' } } } },
      { from: { queue: 'blocked' }, to: { queue: 'ready', sequence: 2 }, record: { state: 'queued' } },
    ]);
    expect(looked?.snapshot.recheckFrom).toBeNull();
  });

  it('D1: what had been looked at when it died is not looked at again, and the rest is', () => {
    const stage = new Stage(host, PROPS);
    stage.tell({ type: 'wake', wake: 1 });
    stage.take();
    const summary = { host: NAME, ready: [], heads: [], waiting: 0, parked: 0, blocked: 2, wakeAtMs: null };
    const snapshot = { ...UNTOUCHED, recheckFrom: 7 };
    const robots = [{ origin: ORIGIN, state: OPEN }];
    stage.tell({ type: 'hostLoaded', host: NAME, snapshot, robots, summary, head: headOf() });
    expect(of(stage.take(), 'readBlocked')).toMatchObject([{ from: 7 }]);
    const failure = { entries: [], complete: false, notes: [], failure: 'broken' };
    stage.tell({ type: 'blockedRead', host: NAME, rows: failure });
    expect(of(stage.take(), 'readBlocked')).toEqual([]);
    stage.pass(1_000);
    expect(of(stage.take(), 'readBlocked')).toMatchObject([{ from: 7 }]);
    const rows = { entries: [blockedRow(8)], complete: false, notes: [], failure: null };
    stage.tell({ type: 'blockedRead', host: NAME, rows });
    const [first] = partsIn(stage);
    expect([first?.moves.length, first?.snapshot.recheckFrom]).toEqual([1, 9]);
  });

  it('P2: a copy that has run out still says how long its host is left alone', () => {
    const stage = new Stage(host, PROPS);
    stage.tell({ type: 'wake', wake: 1 });
    stage.take();
    const rules = { ...ALLOW_ALL, crawlDelaySeconds: 4 };
    const state = { phase: 'fresh', rules, status: 200, fetchedAtMs: ranOut, validators: null } as const;
    const robots = [{ origin: ORIGIN, state }];
    const head = headOf({ ready: [page(1)] });
    stage.tell({ type: 'hostLoaded', host: NAME, snapshot: null, robots, summary: null, head });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const settle = told(stage.take()).find(({ message }) => message.type === 'settle')?.message;
    expect(settle).toMatchObject({ ask: { delayMs: 4_000 } });
  });

  it('U12: a host with a trailing dot has the rules of the same host without', () => {
    const dotted = readyEntry(`http://${NAME}./1`, 1);
    const stage = live({ ready: [dotted] });
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    stage.take();
    grant(stage);
    const start = told(stage.take()).find(({ message }) => message.type === 'start')?.message;
    expect((start as unknown as { request: FetchRequest }).request.url).toBe(`http://${NAME}./1`);
  });
});
