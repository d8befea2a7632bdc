/**
 * Does a page that is made to be hard to read take time in proportion to its size, however it is nested?
 *
 * Each nasty page of the tests is read whole (charset, links, text, fingerprint) at a quarter of its size and at all of
 * it. Growth is the time a piece takes in the large page over that in the small one: about 1 where the work is linear, 4
 * where it is quadratic. The least of several rounds counts. The slowest and the worst growth are named first.
 */
import { parse } from '../src/page/parse.js';
import { NASTY_PAGES, type NastyPage } from '../test/page/nasty-pages.js';
import { taskOf } from '../test/page/tasks.js';
import { round } from './measure.js';
import type { Bench } from './result.js';

const ROUNDS = 5;
const GROWTH_OF_SIZE = 4;

export const run: Bench = async ({ rounds }) => {
  const subjects = NASTY_PAGES.map((nasty) => [nasty.name, figuresOf(nasty, rounds ?? ROUNDS)] as const);
  const worst = (figure: 'growth' | 'milliseconds') => Math.max(...subjects.map(([, figures]) => figures[figure]));
  return {
    name: 'nesting',
    figures: {
      pages: subjects.length,
      worstGrowth: worst('growth'),
      slowestMilliseconds: worst('milliseconds'),
      ...Object.fromEntries(
        subjects.flatMap(([name, { kilobytes, milliseconds, growth }]) => [
          [`${name}: kB`, kilobytes],
          [`${name}: ms`, milliseconds],
          [`${name}: growth`, growth],
        ]),
      ),
    },
  };
};

interface Figures {
  readonly kilobytes: number;
  readonly milliseconds: number;
  readonly growth: number;
}

function figuresOf({ pieces, pageOf }: NastyPage, rounds: number): Figures {
  const small = pageOf(Math.ceil(pieces / GROWTH_OF_SIZE));
  const large = pageOf(pieces);
  leastMs(small, 2);
  const smallMs = leastMs(small, rounds);
  const milliseconds = leastMs(large, rounds);
  return {
    kilobytes: round(large.length / 1_000, 0),
    milliseconds: round(milliseconds),
    growth: round(milliseconds / smallMs / (large.length / small.length), 2),
  };
}

function leastMs(page: string, rounds: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < rounds; i++) {
    const task = taskOf(page);
    const fromMs = performance.now();
    const result = parse(task);
    least = Math.min(least, performance.now() - fromMs);
    if (result.kind !== 'parsed') throw new Error(`not read: ${result.detail}`);
  }
  return least;
}
