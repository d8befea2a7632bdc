import { describe, expect, it } from 'vitest';
import { host } from '../../src/actors/host.js';
import type { FetchFailure } from '../../src/domain/fetching.js';
import type { Effect } from '../../src/protocols/effects.js';
import type { Message } from '../../src/protocols/host.js';
import { ADDRESSES, NAME, PROPS } from './support/host-world.js';
import { WALL_AHEAD_MS } from './support/instants.js';
import { candidateOf, entryAt } from './support/records.js';
import {
  grant,
  live,
  type LiveStage,
  load,
  messages,
  ORIGIN,
  page,
  partsIn,
  snapshotOf,
  types,
} from './support/live-host.js';
import { responseOf } from './support/responses.js';
import { Stage, told } from './support/stage.js';

const DNS_FAILED = { kind: 'failed', code: 'dns_failed', detail: 'no answer', expiresInMs: 30_000 } as const;
const HALF_OPEN_SOON = { phase: 'open', untilMs: 0, openings: 3 } as const;

function fail(stage: LiveStage, permit: number, changes: Partial<FetchFailure> = {}): Effect[] {
  const known = { kind: 'failure', code: 'connect_failed', detail: 'refused', status: null } as const;
  stage.tell({ type: 'fetched', permit, result: { ...known, durationMs: 7, reusedConnection: false, ...changes } });
  return stage.take();
}

function blame(stage: LiveStage, permit: number, fault: 'theirs' | 'ours'): Effect[] {
  stage.tell({ type: 'blamed', about: { what: 'visit', permit }, fault });
  return stage.take();
}

function set(stage: LiveStage, breaker: ReturnType<typeof snapshotOf>['breaker']): void {
  if (stage.state.phase === 'live') stage.state.snapshot = { ...stage.state.snapshot, breaker };
}

describe('B5 a page that was not reached', () => {
  it('P2: the gate hears its delay at once, and that the host was not reached; nothing else happens', () => {
    const stage = live({ ready: [page(1), page(2)] });
    const permit = grant(stage);
    const effects = fail(stage, permit);
    // P9: after a kill its delay is known.
    expect(partsIn(effects)).toMatchObject([{ permit: null, moves: [], visits: [], snapshot: { lastDurationMs: 7 } }]);
    expect(messages(effects).slice(1)).toEqual([
      {
        type: 'settle',
        host: NAME,
        verdict: { permit, closedForMs: PROPS.delayMs },
        network: { reach: 'unreached', about: { what: 'visit', permit } },
        ask: null,
      },
    ]);
    expect(snapshotOf(stage)).toMatchObject({ breaker: { failures: 0 }, requests: 1 });
    // It takes no other step meanwhile, and does not rest.
    const others: Message[] = [{ type: 'wake', wake: 2 }, { type: 'idleDue' }, { type: 'readDue' }];
    for (const message of others) stage.tell(message);
    expect(stage.take()).toEqual([]);
  });

  it('theirs: it is judged as ever, a delivery and a failure of the breaker', () => {
    const stage = live({ ready: [page(1), page(2)] });
    const permit = grant(stage);
    fail(stage, permit);
    const effects = blame(stage, permit, 'theirs');
    expect(types(effects)).toEqual(['visited', 'settle']);
    expect(partsIn(effects)[0]).toMatchObject({
      permit,
      moves: [{ from: { sequence: 1 }, to: { queue: 'waiting' }, record: { deliveries: 1, state: 'waiting' } }],
      visits: [{ attempt: { outcome: 'failed', code: 'connect_failed', detail: 'refused' } }],
      snapshot: { breaker: { phase: 'closed', failures: 1 }, requests: 1 },
    });
  });

  it('F18: ours: no delivery though it was the last, the row stays where it is, and it may be asked for again', () => {
    const due = entryAt({ queue: 'waiting', dueAtMs: WALL_AHEAD_MS - 5, sequence: 1 }, `${ORIGIN}/1`, {
      deliveries: 7,
      state: 'waiting',
    });
    const stage = live({ waiting: [due] });
    const permit = grant(stage);
    fail(stage, permit);
    const [part] = partsIn(blame(stage, permit, 'ours'));
    expect(part).toMatchObject({
      permit,
      moves: [{ from: due.at, to: due.at, record: { deliveries: 7, state: 'waiting' } }],
      visits: [{ attempt: { outcome: 'failed', code: 'egress_down', status: null, detail: 'refused' } }],
      snapshot: { breaker: { phase: 'closed', failures: 0 }, requests: 1 },
      dead: [],
    });
    stage.tell({ type: 'recorded', tickets: [part?.ticket as number], ready: 0, blocked: 0 });
    expect(messages(stage.take())).toMatchObject([{ type: 'settle', ask: { host: NAME } }]);
  });

  it('B3: a probe of the breaker that ends so says nothing: open for as long as before', () => {
    const stage = live({ ready: [page(1)] });
    set(stage, HALF_OPEN_SOON);
    const permit = grant(stage);
    fail(stage, permit);
    expect(snapshotOf(stage).breaker.phase).toBe('half_open');
    blame(stage, permit, 'ours');
    expect(snapshotOf(stage).breaker).toMatchObject({ phase: 'open', openings: 3 });
  });

  it('a word on another request, a second word, and one on what is lost change nothing', () => {
    const stage = live({ ready: [page(1)] });
    const permit = grant(stage);
    expect(blame(stage, permit, 'theirs')).toEqual([]);
    fail(stage, permit);
    expect(blame(stage, permit + 1, 'theirs')).toEqual([]);
    expect(partsIn(blame(stage, permit, 'ours'))).toHaveLength(1);
    expect(blame(stage, permit, 'theirs')).toEqual([]);
    const beginning = new Stage(host, PROPS);
    beginning.tell({ type: 'blamed', about: { what: 'visit', permit }, fault: 'theirs' });
    expect(types(beginning.take())).toEqual([]);
  });

  it('a word that never comes: the visit is given up as lost, and the host goes on', () => {
    const stage = live({ ready: [page(1)] });
    const permit = grant(stage);
    fail(stage, permit);
    stage.tell({ type: 'visitLost', permit });
    expect(messages(stage.take())).toMatchObject([{ type: 'settle', ask: { host: NAME } }]);
  });

  it('B4: a crash while it waits loses nothing: the row is still in the store, and no word is waited for', () => {
    const stage = live({ ready: [page(1)] });
    const permit = grant(stage);
    fail(stage, permit);
    stage.crashOn({ type: 'blamed', about: { what: 'visit', permit }, fault: 'theirs' }, 'drop');
    const effects = stage.take();
    expect(types(effects)).toEqual(['hostRestarted', 'fenceFor']);
    stage.tell({ type: 'fenced', epoch: 1 });
    load(stage, { ready: [page(1)] });
    // P2: how long its answer took is stored, for the life after this one.
    expect(partsIn(stage.take())).toMatchObject([{ permit: null, moves: [], snapshot: { lastDurationMs: 7 } }]);
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    expect(messages(stage.take())).toMatchObject([
      { type: 'settle', verdict: null, network: null, ask: { host: NAME } },
    ]);
    expect(snapshotOf(stage).breaker).toMatchObject({ failures: 0 });
  });

  it('an answer that came is told to the workbench with the verdict, whatever it was', () => {
    const stage = live({ ready: [page(1), page(2)] });
    const permit = grant(stage);
    const effects = fail(stage, permit, { code: 'truncated', status: 200 });
    expect(messages(effects)).toMatchObject([
      { type: 'visited' },
      { type: 'settle', verdict: { permit }, network: { reach: 'reached', origin: ORIGIN }, ask: { host: NAME } },
    ]);
  });
});

describe('B5 a robots.txt that was not reached', () => {
  it('theirs: it can not be read (P5)', () => {
    const stage = live({ ready: [page(1)] }, 'unknown');
    const permit = grant(stage);
    fail(stage, permit, { code: 'timeout' });
    const effects = blame(stage, permit, 'theirs');
    expect(partsIn(effects).flatMap(({ robots }) => robots)).toMatchObject([
      { origin: ORIGIN, state: { phase: 'unreachable', attempts: 1 } },
    ]);
  });

  it('ours: the hunt has not been begun; nothing is learned, no row is parked, and it is asked for again', () => {
    const stage = live({ ready: [page(1)] }, 'unknown');
    const permit = grant(stage);
    fail(stage, permit, { code: 'timeout' });
    const effects = blame(stage, permit, 'ours');
    expect(messages(effects)).toMatchObject([
      { type: 'closed', visits: [permit] },
      { type: 'settle', verdict: null, ask: { host: NAME } },
    ]);
    expect(snapshotOf(stage).breaker).toMatchObject({ phase: 'closed', failures: 0 });
  });
});

describe('B5 an errand that was not reached', () => {
  const errand = { type: 'errand', for: 'b.example', origin: 'http://b.example', url: `${ORIGIN}/x`, validators: null };
  const askedOf = (changes: object = {}) => {
    const stage = live({}, 'known', 'new');
    stage.tell({ ...errand, ...changes } as Message);
    stage.tell({ type: 'resolved', host: NAME, resolution: ADDRESSES });
    const permit = grant(stage);
    expect(types(fail(stage, permit))).toEqual(['visited', 'settle']);
    return { stage, permit };
  };

  it('whoever sent it hears whose fault it was', () => {
    for (const [fault, code] of [
      ['theirs', 'connect_failed'],
      ['ours', 'egress_down'],
    ] as const) {
      const { stage, permit } = askedOf();
      const answers = told(blame(stage, permit, fault)).filter(({ message }) => message.type === 'errandDone');
      expect(answers).toMatchObject([{ message: { origin: 'http://b.example', found: { kind: 'failure', code } } }]);
      expect(answers[0]?.to.endsWith('/b.example')).toBe(true);
    }
  });

  it('one for the workbench is answered to nobody', () => {
    for (const fault of ['theirs', 'ours'] as const) {
      const { stage, permit } = askedOf({ for: null });
      expect(types(blame(stage, permit, fault))).not.toContain('errandDone');
    }
    const named = live({}, 'known', 'new');
    named.tell({ ...errand, for: null } as Message);
    named.take();
    named.tell({ type: 'resolved', host: NAME, resolution: { ...DNS_FAILED, code: 'dns_not_found' } });
    expect(types(named.take())).toEqual(['rested']);
  });

  /** Its robots.txt is a redirect to another host, which has been sent. */
  function waiting(): LiveStage {
    const stage = live({ ready: [page(1)] }, 'unknown');
    const permit = grant(stage);
    stage.tell({ type: 'fetched', permit, result: responseOf(301) });
    const decoded = new Uint8Array(0);
    const redirect = candidateOf('http://b.example/robots.txt', { source: 'redirect' });
    const read = { payloadDigest: 'x', contentDigest: 'x', decodedBytes: 0, page: null, decoded, archive: null };
    stage.tell({ type: 'parsed', permit, result: { kind: 'parsed', ...read, redirect, parseMicros: 1 } });
    expect(types(stage.take())).toContain('errand');
    return stage;
  }
  const robotsKnown = (effects: readonly Effect[]) => partsIn(effects).flatMap(({ robots }) => robots);

  it('P5: ours: the host that sent it has learned nothing of its rules, and hunts for them again', () => {
    const stage = waiting();
    stage.tell({ type: 'errandDone', origin: ORIGIN, found: { kind: 'failure', code: 'egress_down' } });
    const effects = stage.take();
    expect(robotsKnown(effects)).toEqual([]);
    expect(messages(effects)).toMatchObject([{ type: 'settle', ask: { host: NAME } }]);
  });

  it('P5: it is not answered in time: the workbench is asked whose fault that is', () => {
    for (const fault of ['theirs', 'ours'] as const) {
      const stage = waiting();
      const sentAtMs = stage.nowMs;
      stage.pass(90_000);
      expect(messages(stage.take())).toEqual([{ type: 'overdue', host: NAME, origin: ORIGIN, sinceMs: sentAtMs }]);
      stage.tell({ type: 'blamed', about: { what: 'errand', origin: ORIGIN }, fault });
      expect(robotsKnown(stage.take())).toMatchObject(
        fault === 'ours' ? [] : [{ origin: ORIGIN, state: { phase: 'unreachable' } }],
      );
    }
  });

  it('an answer that comes before that word is the answer', () => {
    const stage = waiting();
    stage.pass(90_000);
    stage.take();
    const found = { kind: 'answer', status: 404, bytes: null, cut: false, redirect: null, retryAfterMs: null } as const;
    stage.tell({ type: 'errandDone', origin: ORIGIN, found: { ...found, validators: null } });
    expect(robotsKnown(stage.take())).toMatchObject([{ state: { phase: 'fresh', status: 404 } }]);
    stage.tell({ type: 'blamed', about: { what: 'errand', origin: ORIGIN }, fault: 'theirs' });
    expect(robotsKnown(stage.take())).toEqual([]);
  });
});

describe('B5 a name that could not be resolved', () => {
  function unresolved(): LiveStage {
    const stage = live({ ready: [page(1), page(2)] }, 'known', 'new');
    stage.tell({ type: 'resolved', host: NAME, resolution: DNS_FAILED });
    expect(messages(stage.take())).toEqual([
      {
        type: 'settle',
        host: NAME,
        verdict: null,
        network: { reach: 'unreached', about: { what: 'name' } },
        ask: null,
      },
    ]);
    expect(snapshotOf(stage).breaker).toMatchObject({ failures: 0 });
    return stage;
  }

  it('theirs: one row is charged, and the breaker', () => {
    const stage = unresolved();
    stage.tell({ type: 'blamed', about: { what: 'name' }, fault: 'theirs' });
    const [part] = partsIn(stage.take());
    expect(part).toMatchObject({
      visits: [{ attempt: { code: 'dns_failed' } }],
      snapshot: { breaker: { failures: 1 } },
    });
    expect(part?.moves).toMatchObject([{ record: { deliveries: 1 } }]);
  });

  it('ours: nothing is charged, and it is resolved anew', () => {
    const stage = unresolved();
    stage.tell({ type: 'blamed', about: { what: 'name' }, fault: 'ours' });
    expect(stage.take().map((effect) => effect.do)).toEqual(['resolve']);
    expect(snapshotOf(stage).breaker).toMatchObject({ failures: 0 });
    stage.tell({ type: 'blamed', about: { what: 'name' }, fault: 'theirs' });
    expect(stage.take()).toEqual([]);
  });

  it('a name that does not exist says nothing of our way: it is charged at once', () => {
    const stage = live({ ready: [page(1)] }, 'known', 'new');
    stage.tell({ type: 'resolved', host: NAME, resolution: { ...DNS_FAILED, code: 'dns_not_found' } });
    const effects = stage.take();
    expect(types(effects)).toEqual(['visited']);
    expect(snapshotOf(stage).breaker).toMatchObject({ failures: 1 });
  });
});
