import { describe, expect, it } from 'vitest';
import { parser } from '../../src/actors/parser.js';
import type { ParseResult, ParseTask } from '../../src/domain/parsing.js';
import type { Message } from '../../src/protocols/parser.js';
import { CHALLENGE_TERMS } from '../support/challenge-terms.js';
import { of, Stage, told } from './support/stage.js';

const task = (n: number): ParseTask => ({
  url: `http://a.example/${n}`,
  want: 'page',
  status: 200,
  statusText: 'OK',
  httpVersion: '1.1',
  headers: [],
  requestHeaders: [],
  rawHead: null,
  sentHead: null,
  remoteAddress: '192.0.2.1',
  body: new Uint8Array(1),
  cut: false,
  fetchedAtMs: 0,
  decodedBytesMax: 10,
  linksMax: 10,
  links: { embeds: true, forms: false, nofollow: 'skip' },
  robotsMeta: { obeyed: true, productToken: 'TestBot' },
  challenge: CHALLENGE_TERMS,
  archive: false,
  metadata: null,
});
const read = (permit: number): Message => ({ type: 'read', host: 'a.example', permit, task: task(permit) });
const RESULT: ParseResult = { kind: 'unparsed', code: 'undecodable', detail: 'x', archive: null };
const staged = () => new Stage(parser, { thread: 1 });
const begun = (stage: ReturnType<typeof staged>) =>
  of(stage.take(), 'parse').map(({ ticket, thread }) => [ticket, thread]);

describe('parser', () => {
  it('S2: gives its thread two at once, the others in their order', () => {
    const stage = staged();
    for (const permit of [5, 6, 7, 8]) stage.tell(read(permit));
    expect(begun(stage)).toEqual([
      [5, 1],
      [6, 1],
    ]);
    stage.tell({ type: 'parseEnded', ticket: 6, result: RESULT });
    const effects = stage.take();
    expect(told(effects)[0]?.message).toEqual({ type: 'parsed', permit: 6, result: RESULT });
    expect(of(effects, 'parse').map(({ ticket }) => ticket)).toEqual([7]);
  });

  it('an end that it does not wait for is nothing', () => {
    const stage = staged();
    stage.tell({ type: 'parseEnded', ticket: 6, result: RESULT });
    expect(stage.take()).toEqual([]);
  });

  it('B4: says so when its thread died', () => {
    const stage = staged();
    stage.tell(read(5));
    stage.take();
    stage.tell({ type: 'parseEnded', ticket: 5, result: { ...RESULT, code: 'worker_crashed' } });
    expect(of(stage.take(), 'log')).toMatchObject([{ level: 'error', event: 'parser_thread_died' }]);
  });

  it('B4: a crash is held against the page in hand alone; what the thread read is interrupted, what waits is read', () => {
    const stage = staged();
    for (const permit of [5, 6, 7]) stage.tell(read(permit));
    stage.take();
    stage.crashOn(read(8), 'drop');
    const effects = stage.take();
    expect(
      told(effects).map(({ message }) => [
        message['permit'],
        (message['result'] as ParseResult & { code: string }).code,
      ]),
    ).toEqual([
      [5, 'interrupted'],
      [6, 'interrupted'],
      [8, 'worker_crashed'],
    ]);
    expect(of(effects, 'parse').map(({ ticket }) => ticket)).toEqual([7]);
  });
});
