/** The made pages of the corpus, all of them. */
import { CHALLENGES } from './challenge-pages.js';
import { type MadePage, makeAll } from './made-page.js';
import { SHELLS } from './shell-pages.js';
import { BORDERLINE, THIN, UNDECIDED } from './thin-pages.js';

/** Pages of each maker; a third of them is held out. */
export const EACH = 30;

export function madePages(each = EACH, firstSeed = 1): MadePage[] {
  return [
    ...makeAll(CHALLENGES, 'challenge', { each, firstSeed }),
    ...makeAll(SHELLS, 'script_shell', { each, firstSeed: firstSeed + 1_000_003 }),
    ...makeAll(THIN, null, { each, firstSeed: firstSeed + 2_000_003 }),
    ...makeAll(BORDERLINE, null, { each, isBorderline: true, firstSeed: firstSeed + 3_000_017 }),
  ];
}

/** Pages of which nobody can say what they are. */
export function undecidedPages(): MadePage[] {
  return makeAll(UNDECIDED, null, { each: 3, isBorderline: true, firstSeed: 4_000_037 });
}
