/** A made page and what it is. */
import type { ChallengeKind } from '../../src/domain/parsing.js';
import type { Header } from '../../src/domain/fetching.js';
import { Chance, minified } from './chance.js';

export interface MadePage {
  /** Which maker's, and which of its sort. */
  readonly name: string;
  readonly truth: ChallengeKind | null;
  /** Made to be mistaken. */
  readonly isBorderline: boolean;
  readonly status: number;
  readonly headers: readonly Header[];
  readonly html: string;
  readonly isHeldOut: boolean;
}

export interface Draft {
  readonly html: string;
  readonly status?: number;
  readonly headers?: readonly Header[];
}

export type Maker = (chance: Chance) => Draft;

/** So many of each maker; each third by seed is held out. */
export function makeAll(
  makers: Readonly<Record<string, Maker>>,
  truth: ChallengeKind | null,
  {
    each,
    isBorderline = false,
    firstSeed = 1,
  }: { each: number; isBorderline?: boolean | readonly string[]; firstSeed?: number },
): MadePage[] {
  return Object.entries(makers).flatMap(([name, make], nth) =>
    Array.from({ length: each }, (_, i) => {
      const seed = firstSeed + nth * 10_007 + i;
      const chance = new Chance(seed);
      const { html, status = 200, headers = [] } = make(chance);
      const isMinified = chance.odds(0.4) && !html.includes('<pre');
      return {
        name: `${name}#${i}`,
        truth,
        isBorderline: typeof isBorderline === 'boolean' ? isBorderline : isBorderline.includes(name),
        status,
        headers: [['Content-Type', 'text/html; charset=utf-8'] as const, ...headers],
        html: isMinified ? minified(html) : html,
        isHeldOut: i % 3 === 2,
      };
    }),
  );
}
