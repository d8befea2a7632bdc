import { ANY_RULES } from './support/records.js';
import { describe, expect, it } from 'vitest';
import { fetcher } from '../../src/actors/fetcher.js';
import type { FetchRequest, FetchResult } from '../../src/domain/fetching.js';
import type { Message } from '../../src/protocols/fetcher.js';
import type { Permit } from '../../src/protocols/workbench.js';
import { of, Stage, told } from './support/stage.js';

const ADDRESS = { address: '192.0.2.1', family: 4 } as const;
const REQUEST: FetchRequest = {
  url: 'http://a.example/',
  tier: 1,
  origin: 'http://a.example',
  address: ADDRESS,
  headers: [],
  deadlineMs: 1_000,
  bodyBytesMax: 10,
  headerBytesMax: 10,
  cutAtBound: false,
};
const permit = (number: number): Permit => ({
  number,
  host: 'a.example',
  address: ADDRESS,
  tier: 1,
  fetcher: 3,
  delivery: 'first',
  expiresAtMs: 100,
  deadlineMs: 1_100,
  rules: ANY_RULES,
});
const start = (number: number): Message => ({ type: 'start', permit: permit(number), request: REQUEST });
const RESPONSE: FetchResult = {
  kind: 'response',
  status: 200,
  statusText: 'OK',
  httpVersion: '1.1',
  headers: [],
  rawHead: null,
  sentHead: null,
  body: new Uint8Array(7),
  cut: false,
  durationMs: 5,
  remoteAddress: '192.0.2.1',
};
const staged = (nowMs = 0) => new Stage(fetcher, { slot: 3 }, nowMs);
const typesOf = (stage: Stage<never, never, never> | ReturnType<typeof staged>) =>
  told(stage.take()).map(({ to, message }) => `${to.split('/').at(-1)}: ${message.type}`);

describe('fetcher', () => {
  it('P2: tells the workbench of the end, with the bytes that are held, then the host what came', () => {
    const stage = staged();
    stage.tell(start(1));
    expect(stage.take()).toEqual([{ do: 'fetch', ticket: 1, request: REQUEST }]);
    stage.tell({ type: 'fetchEnded', ticket: 1, tier: 1, result: RESPONSE });
    expect(told(stage.take()).map(({ message }) => message)).toEqual([
      { type: 'ended', permit: 1, host: 'a.example', tier: 1, slot: 3, bytes: 7, backend: null },
      { type: 'fetched', permit: 1, result: RESPONSE },
    ]);
  });

  it('P1: sends nothing on a permit that has run out: good at 99 ms, refused at 100', () => {
    const good = staged(99);
    good.tell(start(1));
    expect(of(good.take(), 'fetch')).toHaveLength(1);
    const late = staged(100);
    late.tell(start(1));
    const effects = late.take();
    expect(of(effects, 'fetch')).toEqual([]);
    expect(told(effects).map(({ message }) => message)).toMatchObject([
      { type: 'returned', permit: 1 },
      { type: 'fetched', permit: 1, result: { kind: 'failure', code: 'interrupted', durationMs: 0 } },
    ]);
  });

  it('P1: one request at a time: the second permit is refused, the first goes on', () => {
    const stage = staged();
    stage.tell(start(1));
    stage.take();
    stage.tell(start(2));
    expect(told(stage.take()).map(({ message }) => [message.type, message['permit']])).toEqual([
      ['returned', 2],
      ['fetched', 2],
    ]);
    stage.tell({ type: 'fetchEnded', ticket: 1, tier: 1, result: RESPONSE });
    expect(typesOf(stage)).toEqual(['workbench: ended', 'a.example: fetched']);
  });

  it('an end that it does not wait for is nothing', () => {
    const stage = staged();
    stage.tell({ type: 'fetchEnded', ticket: 1, tier: 1, result: RESPONSE });
    stage.tell(start(2));
    stage.take();
    stage.tell({ type: 'fetchEnded', ticket: 1, tier: 1, result: RESPONSE });
    expect(stage.take()).toEqual([]);
  });

  it('B4: a crash with a request in hand ends it for both, with no bytes held', () => {
    const stage = staged();
    stage.tell(start(1));
    stage.take();
    stage.nowMs = 40;
    stage.crashOn({ type: 'fetchEnded', ticket: 1, tier: 1, result: RESPONSE }, 'drop');
    expect(told(stage.take()).map(({ message }) => message)).toMatchObject([
      { type: 'ended', permit: 1, bytes: 0 },
      { type: 'fetched', permit: 1, result: { kind: 'failure', code: 'worker_crashed', durationMs: 40 } },
    ]);
    stage.tell(start(2));
    expect(of(stage.take(), 'fetch')).toHaveLength(1);
  });

  it('B4: a crash before a request was begun gives its permit back', () => {
    const stage = staged();
    stage.crashOn(start(1), 'drop');
    const effects = stage.take();
    expect(of(effects, 'fetch')).toEqual([]);
    expect(told(effects).map(({ message }) => message)).toMatchObject([
      { type: 'returned', permit: 1 },
      { type: 'fetched', permit: 1, result: { code: 'interrupted' } },
    ]);
  });

  it('B4: a crash with nothing in hand tells nobody', () => {
    const stage = staged();
    stage.crashOn(start(1), 'again');
    expect(told(stage.take())).toEqual([]);
  });
});
