import { describe, expect, it } from 'vitest';
import { frontier, type Props } from '../../src/actors/frontier.js';
import { createBloom } from '../../src/domain/bloom.js';
import type { UrlRecord } from '../../src/domain/record.js';
import type { Redrive, RedriveRate } from '../../src/domain/redrive.js';
import { begun, withEntered } from '../../src/policy/redrive.js';
import type { RedrivePart } from '../../src/protocols/commit.js';
import type { RedrivablePage, ReadRedrivable } from '../../src/protocols/effects.js';
import type { Message } from '../../src/protocols/frontier.js';
import { readRobots } from '../../src/policy/robots/read.js';
import { drawsFrom, WALL_AHEAD_MS } from './support/instants.js';
import { NO_TOTALS, receiptOf, recordOf, settingsOf } from './support/records.js';
import { of, Stage, told } from './support/stage.js';

const ALL = { host: null, cause: null, code: null, beforeMs: null, sinceMs: null };
const WISH = { filter: ALL, rate: null, way: 'command', who: 'me', matched: 3, untilMs: 1e15 } as const;
const SLOW: RedriveRate = { letters: 1, perMs: 10_000 };

function staged(changes: Partial<Props> = {}, more: Parameters<typeof settingsOf> = []) {
  const props: Props = {
    ...settingsOf(...more),
    ...{ seen: createBloom(1_000), totals: NO_TOTALS, nextSequence: 100, redrives: [], lastRedrive: 0 },
    ...{ activeMin: 3, activeMax: 3, pagesMax: null, waitMs: 30_000, ...changes },
  };
  const stage = new Stage(frontier, props, 0, drawsFrom(3));
  return stage;
}
type Front = ReturnType<typeof staged>;

const LISTED: Message = { type: 'hostsListed', hosts: [], complete: true, notes: [], failure: null };
const wish = (rate: RedriveRate | null = null, command = 1): Message => ({
  type: 'redriveDead',
  command,
  wish: { ...WISH, rate },
});
const dead = (url: string, changes: Partial<UrlRecord> = {}) =>
  recordOf(url, { state: 'dead', deliveries: 8, ...changes });

function pageOf(
  records: readonly UrlRecord[],
  next: string | null,
  robots: RedrivablePage['robots'] = new Map(),
): RedrivablePage {
  const letters = records.map((record) => {
    const { url, key, host } = record;
    const rest = { cause: 'c', code: 'timeout', deliveries: 8, firstAtMs: 1, lastAtMs: 2, attempts: [] } as const;
    return { letter: { url, key, host, ...rest }, record };
  });
  return { letters, robots, next };
}

const asked = (stage: Front): ReadRedrivable[] => of(stage.take(), 'readRedrivable');
const read = (page: RedrivablePage, after: string | null = null, redrive = 1): Message => ({
  type: 'redrivableRead',
  redrive,
  after,
  page,
});
const parts = (stage: Front): RedrivePart[] =>
  told(stage.take()).flatMap(({ message }) =>
    message.type === 'record' ? (message['parts'] as RedrivePart[]).filter(({ kind }) => kind === 'redrive') : [],
  );
const recorded = (part: RedrivePart, known: readonly string[] = []): Message => {
  const queued = part.admitted.length - known.length;
  return {
    type: 'recorded',
    parts: [part],
    receipt: receiptOf({ known, redrives: [withEntered(part.redrive, { queued, blocked: 0 })] }),
  };
};
const announced = (stage: Front) =>
  of(stage.take(), 'announce').flatMap(({ event }) =>
    event.event === 'redriven' || event.event === 'ended' ? [event] : [],
  );

describe('R1 the frontier redrives', () => {
  it('reads, admits, and says what became of each letter once it is stored; all in one part', () => {
    const stage = staged();
    stage.tell(wish());
    expect(asked(stage)).toMatchObject([{ redrive: 1, query: { after: null, limit: 500 } }]);
    stage.tell(read(pageOf([dead('http://a.test/1'), dead('http://b.test/2')], null)));
    const [part] = parts(stage) as [RedrivePart];
    expect(part).toMatchObject({ command: 1, redrive: { number: 1, stage: 'done', who: 'me' }, settings: null });
    expect(
      part.admitted.map(({ record, ifAbsent }) => [record.url, record.state, record.deliveries, ifAbsent]),
    ).toEqual([
      ['http://a.test/1', 'queued', 0, true],
      ['http://b.test/2', 'queued', 0, true],
    ]);
    stage.tell(recorded(part, [part.admitted[1]?.record.key as string]));
    expect(announced(stage)).toMatchObject([
      { command: 1, redrive: { stage: 'done', queued: 1 }, lines: [{ reason: null }, { reason: 'queued_already' }] },
    ]);
  });

  it('what the rules of the crawl refuse now stays, and is told by its code', () => {
    const stage = staged({}, [{ exclude: ['/old/'] }]);
    stage.tell(wish());
    stage.tell(read(pageOf([dead('http://a.test/old/1'), dead('http://a.test/new')], null)));
    const [part] = parts(stage) as [RedrivePart];
    expect(part.admitted.map(({ record }) => record.url)).toEqual(['http://a.test/new']);
    expect(part.redrive.left).toEqual({ excluded: 1 });
  });

  it('P4: robots.txt that is in force is looked at anew: what it disallows enters as blocked', () => {
    const rules = readRobots(
      new TextEncoder().encode('User-agent: *\nDisallow: /x'),
      'TestBot',
      'http://a.test/robots.txt',
    );
    const state = { phase: 'fresh', rules, status: 200, fetchedAtMs: WALL_AHEAD_MS, validators: null } as const;
    const stage = staged();
    stage.tell(wish());
    const robots = new Map([['a.test', [{ origin: 'http://a.test', state }]]]);
    stage.tell(read(pageOf([dead('http://a.test/x'), dead('http://a.test/y')], null, robots)));
    const [part] = parts(stage) as [RedrivePart];
    expect(part.admitted.map(({ record }) => record.state)).toEqual(['blocked_by_robots', 'queued']);
    expect(part.lines.map(({ reason }) => reason)).toEqual(['robots_disallowed', null]);
  });

  it('at a rate: the next portion is read when its time has come, one commit after the other', () => {
    const stage = staged();
    stage.tell(LISTED);
    stage.tell(wish(SLOW));
    expect(asked(stage)).toMatchObject([{ query: { limit: 1 } }]);
    stage.tell(read(pageOf([dead('http://a.test/1')], 'aa')));
    const [part] = parts(stage) as [RedrivePart];
    expect(part.redrive).toMatchObject({ after: 'aa', stage: 'going', dueAtMs: WALL_AHEAD_MS + 10_000 });
    stage.tell(recorded(part));
    stage.pass(9_999);
    expect(asked(stage)).toEqual([]);
    stage.pass(1);
    expect(asked(stage)).toMatchObject([{ query: { after: 'aa', limit: 1 } }]);
  });

  it('D1, P8: the next life goes on where it was, by the due time that was kept', () => {
    const redrive: Redrive = {
      ...begun({ ...WISH, rate: SLOW }, 7, WALL_AHEAD_MS),
      after: 'bb',
      dueAtMs: WALL_AHEAD_MS + 4_000,
    };
    const stage = staged({ redrives: [redrive], lastRedrive: 7 });
    stage.tell(LISTED);
    stage.pass(3_999);
    expect(asked(stage)).toEqual([]);
    stage.pass(1);
    expect(asked(stage)).toMatchObject([{ redrive: 7, query: { after: 'bb' } }]);
    stage.tell(wish());
    expect(asked(stage)).toMatchObject([{ redrive: 8 }]);
  });

  it('the crawl does not end while one goes on within its patience, and only waits for one that is slower', () => {
    const stage = staged();
    stage.tell(wish({ letters: 1, perMs: 20_000 }));
    stage.tell(LISTED);
    stage.tell(read(pageOf([dead('http://a.test/1')], 'aa')));
    const [part] = parts(stage) as [RedrivePart];
    stage.tell(recorded(part));
    expect(announced(stage).filter(({ event }) => event === 'ended')).toEqual([]);
    const slow = staged();
    slow.tell(wish({ letters: 1, perMs: 60_000 }));
    slow.tell(LISTED);
    slow.tell(read(pageOf([dead('http://a.test/1')], 'aa')));
    slow.tell(recorded((parts(slow) as [RedrivePart])[0]));
    expect(announced(slow).filter(({ event }) => event === 'ended')).toMatchObject([{ reason: 'only-waiting' }]);
  });

  it('B4: a crash with a page in hand takes it up once; one that was asked for before it is not taken up twice', () => {
    const stage = staged();
    stage.tell(wish());
    stage.take();
    const page = read(pageOf([dead('http://a.test/1')], 'aa'));
    stage.crashOn(page, 'again');
    expect(parts(stage)).toHaveLength(1);
    stage.tell(page);
    expect(parts(stage)).toEqual([]);
  });

  it('a page of before, for a redrive that has gone on since, is left', () => {
    const stage = staged();
    stage.tell(wish());
    stage.tell(read(pageOf([dead('http://a.test/1')], 'aa')));
    stage.tell(recorded((parts(stage) as [RedrivePart])[0]));
    stage.take();
    stage.tell(read(pageOf([dead('http://a.test/1')], 'aa')));
    expect(parts(stage)).toEqual([]);
    stage.tell(read(pageOf([dead('http://a.test/2')], null), 'aa'));
    expect(parts(stage)).toMatchObject([{ redrive: { stage: 'done' } }]);
  });

  it('D3: a store that can not be read is asked again after a second', () => {
    const stage = staged();
    stage.tell(wish());
    stage.take();
    stage.tell({ type: 'redrivableRead', redrive: 1, after: null, page: { failure: 'it is down' } });
    stage.pass(1_000);
    expect(asked(stage)).toMatchObject([{ redrive: 1 }]);
  });

  it('cancelled while it waits, while it reads, and while a portion is on its way; an unknown one is told so', () => {
    const cancel: Message = { type: 'cancelRedrive', command: 2, redrive: 1 };
    const cancelledAfter = (steps: (stage: Front) => void) => {
      const stage = staged();
      stage.tell(wish(SLOW));
      steps(stage);
      return stage;
    };
    const waiting = cancelledAfter((stage) => {
      stage.tell(read(pageOf([dead('http://a.test/1')], 'aa')));
      stage.tell(recorded((parts(stage) as [RedrivePart])[0]));
      stage.tell(cancel);
    });
    expect(parts(waiting)).toMatchObject([{ command: 2, redrive: { stage: 'cancelled', queued: 1 }, admitted: [] }]);
    const reading = cancelledAfter((stage) => {
      stage.tell(cancel);
      stage.tell(read(pageOf([dead('http://a.test/1')], 'aa')));
    });
    expect(parts(reading)).toMatchObject([{ redrive: { stage: 'cancelled', queued: 0 } }]);
    const committing = cancelledAfter((stage) => {
      stage.tell(read(pageOf([dead('http://a.test/1')], 'aa')));
      const [part] = parts(stage) as [RedrivePart];
      stage.tell(cancel);
      expect(parts(stage)).toEqual([]);
      stage.tell(recorded(part));
    });
    const [last] = parts(committing) as [RedrivePart];
    expect(last.redrive).toMatchObject({ stage: 'cancelled', queued: 1 });
    committing.tell(recorded(last));
    expect(announced(committing)).toMatchObject([{ command: 2, redrive: { stage: 'cancelled' } }]);
    committing.tell(cancel);
    expect(announced(committing)).toMatchObject([{ command: 2, redrive: null }]);
  });
});
