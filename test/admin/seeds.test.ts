import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LINE_CHARACTERS_MAX, seedLines } from '../../src/admin/seed-lines.js';
import { sowAll } from '../../src/admin/seeds.js';
import { literalRefusal } from '../../src/admin/seed-rules.js';
import { loadConfig } from '../../src/config/load.js';
import type { Candidate } from '../../src/domain/url.js';

async function* inPieces(text: string, cuts: readonly number[]): AsyncGenerator<string> {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield text.slice(from, Math.max(from, cut));
    from = Math.max(from, cut);
  }
  yield text.slice(from);
}

async function read(text: string, cuts: readonly number[] = []) {
  const lines: [number, string][] = [];
  for await (const { line, text: seed } of seedLines(inPieces(text, cuts))) lines.push([line, seed]);
  return lines;
}

describe('A07: a file of seeds', () => {
  it('a byte order mark, any line end, blanks and comments', async () => {
    expect(await read('\uFEFFhttp://a.test/\r\n\r\n# a comment\n  http://b.test/ \r\thttp://c.test/')).toEqual([
      [1, 'http://a.test/'],
      [4, 'http://b.test/'],
      [5, 'http://c.test/'],
    ]);
  });

  it('lines don’t depend on where the file is torn', async () => {
    const piece = fc.constantFrom('a', 'http://a.test/', '\n', '\r', '\r\n', ' ', '#', '\uFEFF');
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 20 }),
        fc.array(fc.nat(60), { maxLength: 6 }),
        async (pieces, cuts) => {
          const text = pieces.join('');
          expect(await read(text, cuts)).toEqual(await read(text));
        },
      ),
    );
  });

  it('a line of three megabytes is cut at the bound, and stands in nobody’s way', async () => {
    const lines = await read(`http://a.test/${'x'.repeat(3_000_000)}\nhttp://b.test/\n`, [65_536, 131_072, 2_000_000]);
    expect(lines.map(([line, text]) => [line, text.length])).toEqual([
      [1, LINE_CHARACTERS_MAX],
      [2, 14],
    ]);
  });
});

describe('what becomes of seeds', () => {
  const { config } = loadConfig({
    cores: 2,
    assignments: ['guard.allow=["127.0.0.0/8"]', 'userAgent=SeedBot/1.0 (+https://bot.example/)'],
  });
  /** An engine that knows one URL. */
  const field = () => {
    const commits: Candidate[][] = [];
    const known = new Set(['http://known.test/']);
    return {
      commits,
      refusalOf: literalRefusal(config),
      sow: async (candidates: readonly Candidate[]) => {
        commits.push([...candidates]);
        const queued = candidates.map(({ url }) => url).filter((url) => !known.has(url));
        for (const url of queued) known.add(url);
        const refused = candidates.some(({ host }) => host === 'outside.test')
          ? [{ url: 'http://outside.test/', code: 'excluded' as const }]
          : [];
        return { queued: queued.filter((url) => url !== 'http://outside.test/'), known: [], refused };
      },
    };
  };
  const urls = ['http://a.test/', 'a.test', 'notaurl', 'ftp://a.test/', 'known.test', '10.0.0.1', '127.0.0.1', '[::1]'];

  it('each gets its verdict, the good ones one commit', async () => {
    const engine = field();
    const report = await sowAll({ urls: [...urls, `http://a.test/${'x'.repeat(20_000)}`], again: false }, engine);
    expect(report.seeds.map(({ verdict, code }) => code ?? verdict)).toEqual([
      'queued',
      'known',
      'url_invalid',
      'url_scheme',
      'known',
      'guard_refused',
      'queued',
      'guard_refused',
      'url_too_long',
    ]);
    expect([report.queued, report.known, report.refused]).toEqual([2, 2, 5]);
    expect(engine.commits.map((commit) => commit.map(({ url }) => url))).toEqual([
      ['http://a.test/', 'http://known.test/', 'http://127.0.0.1/'],
    ]);
    expect(report.seeds.at(-1)?.input.length).toBeLessThan(300);
  });

  it('what the rules of the crawl refuse is refused with their code', async () => {
    const report = await sowAll({ urls: ['a.test', 'outside.test'], again: false }, field());
    expect(report.seeds.map(({ verdict, code }) => code ?? verdict)).toEqual(['queued', 'excluded']);
  });

  it('the same wish once more queues nothing', async () => {
    const engine = field();
    await sowAll({ urls, again: false }, engine);
    const twice = await sowAll({ urls, again: false }, engine);
    expect([twice.queued, twice.known, twice.refused]).toEqual([0, 4, 4]);
  });

  it('without a good one nobody is asked', async () => {
    const engine = field();
    const report = await sowAll({ urls: ['x', 'y'], again: false }, engine);
    expect([report.refused, engine.commits.length]).toEqual([2, 0]);
  });
});
