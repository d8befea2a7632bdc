import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createInlineParser,
  createParserThreads,
  type Parser,
  type ParserThreadsOptions,
} from '../../src/page/parser-pool.js';
import type { ParseResult, ParseTask } from '../../src/domain/parsing.js';
import { type CompiledWorker, compileWorker } from './compiled-worker.js';
import { html, parsed, taskOf } from './tasks.js';

let compiled: CompiledWorker;
const open: Parser[] = [];

beforeAll(() => {
  compiled = compileWorker();
});
afterEach(async () => {
  for (const parser of open.splice(0)) await parser.close();
});
afterAll(() => compiled.remove());

function threads(options: Partial<ParserThreadsOptions> = {}): Parser {
  const parser = createParserThreads({ threads: 1, workerUrl: compiled.url, ...options });
  open.push(parser);
  return parser;
}

function inline(): Parser {
  const parser = createInlineParser();
  open.push(parser);
  return parser;
}

const FAULT = html('text/html', ['x-orbweaver-fault', 'worker-exit']);

function linkOf(result: ParseResult): string | undefined {
  return parsed(result).page?.links[0]?.url;
}

/** Made anew for each parser: bodies are given away. */
function contractTasks(): ParseTask[] {
  return [
    taskOf('<title>t</title><a href=x>words and words</a>', { archive: true }),
    taskOf('', { headers: [] }),
    taskOf('plain text', { headers: html('text/plain') }),
    taskOf('x', { status: 302, headers: [['location', '/y']], archive: true }),
    taskOf(gzipSync('User-agent: *\nDisallow: /'), { want: 'robots', headers: [['content-encoding', 'gzip']] }),
    taskOf('broken', { headers: html('text/html', ['content-encoding', 'gzip']), archive: true }),
    taskOf(gzipSync(Buffer.alloc(2_000_000)), { headers: html('text/html', ['content-encoding', 'gzip']) }),
    taskOf(`<a href=big>${'text '.repeat(200_000)}`),
    taskOf('<a href=x>', { url: 'no url' }),
    taskOf('<a href=x>', { headers: FAULT }),
  ];
}

function comparable(result: ParseResult): object {
  const plain = {
    ...result,
    archive: result.archive && { ...result.archive, bytes: Buffer.from(result.archive.bytes).toString('hex') },
  };
  if (plain.kind !== 'parsed') return plain;
  return { ...plain, parseMicros: 0, decoded: plain.decoded && Buffer.from(plain.decoded).toString('hex') };
}

describe('contract of a parser', () => {
  it('threads answer as inline does, in any number at once', async () => {
    const byThread = threads({ threads: 2 });
    const byInline = inline();
    const [a, b, c] = await Promise.all([
      Promise.all(contractTasks().map((task) => byThread.parse(0, task))),
      Promise.all(contractTasks().map((task) => byThread.parse(1, task))),
      Promise.all(contractTasks().map((task) => byInline.parse(0, task))),
    ]);
    expect(a?.map(comparable)).toEqual(c?.map(comparable));
    expect(b?.map(comparable)).toEqual(c?.map(comparable));
  });

  it.each([
    ['threads', () => threads()],
    ['inline', () => inline()],
  ])('%s: after its end, what is asked is answered as interrupted', async (_, make) => {
    const parser = make();
    await parser.close();
    expect(await parser.parse(0, taskOf('x'))).toMatchObject({ kind: 'unparsed', code: 'interrupted' });
  });
});

describe('a line', () => {
  it('answers in order', async () => {
    const parser = threads();
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        parser.parse(0, taskOf(`<a href=${i}>`)).then((result) => {
          expect(linkOf(result)).toBe(`http://site.example/dir/${i}`);
          order.push(i);
        }),
      ),
    );
    expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('takes large bodies between small ones', async () => {
    const parser = threads();
    const sizes = [10, 300_000, 10, 400_000, 262_144, 262_145, 10];
    const results = await Promise.all(sizes.map((size) => parser.parse(0, taskOf(`<a href=${size}>`.padEnd(size)))));
    expect(results.map(linkOf)).toEqual(sizes.map((size) => `http://site.example/dir/${size}`));
  });

  it('leaves alone a buffer that a body shares with others', async () => {
    const whole = new Uint8Array(Buffer.from('other<a href=x>other'));
    const parser = threads();
    const view = new Uint8Array(whole.buffer, whole.byteOffset + 5, 10);
    expect(linkOf(await parser.parse(0, { ...taskOf(''), body: view }))).toBe('http://site.example/dir/x');
    expect(Buffer.from(whole).toString()).toBe('other<a href=x>other');
  });

  it('does not stand still for a body that was given away before', async () => {
    const parser = threads();
    const task = taskOf('<a href=x>');
    const results = await Promise.all([
      parser.parse(0, task),
      parser.parse(0, task),
      parser.parse(0, taskOf('<a href=y>')),
    ]);
    expect(results[1]).toMatchObject({ kind: 'unparsed', code: 'worker_crashed' });
    expect([results[0], results[2]].map((result) => result && linkOf(result))).toEqual([
      'http://site.example/dir/x',
      'http://site.example/dir/y',
    ]);
  });

  it('is unknown past the last one', async () => {
    await expect(threads().parse(1, taskOf('x'))).rejects.toThrow(RangeError);
  });
});

describe('the death of a thread', () => {
  it('costs the one task in its hand; the rest is parsed by the next thread', async () => {
    const parser = threads({ faults: true });
    const bodies = Array.from({ length: 12 }, (_, i) =>
      taskOf(`<a href=${i}>`, i === 2 || i === 7 ? { headers: FAULT } : {}),
    );
    const results = await Promise.all(bodies.map((task) => parser.parse(0, task)));
    results.forEach((result, i) => {
      if (i === 2 || i === 7)
        expect(result).toMatchObject({
          kind: 'unparsed',
          code: 'worker_crashed',
          detail: expect.stringContaining('70'),
        });
      else expect(linkOf(result)).toBe(`http://site.example/dir/${i}`);
    });
  });

  it('of one line leaves the others alone', async () => {
    const parser = threads({ threads: 2, faults: true });
    const [dead, alive] = await Promise.all([
      parser.parse(0, taskOf('', { headers: FAULT })),
      parser.parse(1, taskOf('<a href=x>')),
    ]);
    expect(dead).toMatchObject({ code: 'worker_crashed' });
    expect(linkOf(alive)).toBe('http://site.example/dir/x');
    expect(linkOf(await parser.parse(0, taskOf('<a href=y>')))).toBe('http://site.example/dir/y');
  });

  it('does not come by a header where faults are off', async () => {
    expect(linkOf(await threads().parse(0, taskOf('<a href=x>', { headers: FAULT })))).toBe(
      'http://site.example/dir/x',
    );
  });

  it('by a thread that can not even start is answered, task by task', async () => {
    const parser = threads({ workerUrl: new URL('./no-such-worker.js', compiled.url) });
    const results = await Promise.all([parser.parse(0, taskOf('a')), parser.parse(0, taskOf('b'))]);
    for (const result of results) expect(result).toMatchObject({ kind: 'unparsed', code: 'worker_crashed' });
  });

  it('by its own heap bound is answered', async () => {
    const parser = threads({ heapMegabytesMax: 16 });
    const heavy = await parser.parse(
      0,
      taskOf(`${Array.from({ length: 300_000 }, (_, i) => `<a href=${i}>`).join('')}`, { linksMax: 1_000_000 }),
    );
    expect(heavy).toMatchObject({ kind: 'unparsed', code: 'worker_crashed' });
    expect(linkOf(await parser.parse(0, taskOf('<a href=x>')))).toBe('http://site.example/dir/x');
  }, 20_000);

  it('by its deadline is answered, and the next task has a thread', async () => {
    const parser = threads({ taskMsMax: 1 });
    const slow = await parser.parse(0, taskOf('<b>'.repeat(4_000_000)));
    expect(slow).toMatchObject({
      kind: 'unparsed',
      code: 'worker_crashed',
      detail: expect.stringContaining('too long'),
    });
  }, 20_000);

  it('by close answers what waits as interrupted', async () => {
    const parser = threads();
    const answers = Promise.all(Array.from({ length: 8 }, () => parser.parse(0, taskOf('<b>'.repeat(100_000)))));
    await parser.close();
    for (const result of await answers) expect(result).toMatchObject({ kind: 'unparsed', code: 'interrupted' });
  });
});

describe('what the process was started with', () => {
  it.each(['--max-old-space-size=4096', '--input-type=module'])('%s keeps no thread from its work', async (option) => {
    process.execArgv.push(option);
    try {
      expect(linkOf(await threads().parse(0, taskOf('<a href=x>')))).toBe('http://site.example/dir/x');
    } finally {
      process.execArgv.pop();
    }
  });
});
