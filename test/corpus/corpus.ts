/** The made pages of the corpus, all of them. */
import { CHALLENGES } from './challenge-pages.js';
import { LATER_CHALLENGES, LATER_HONEST, LATER_SHELLS } from './later-pages.js';
import { type MadePage, makeAll } from './made-page.js';
import { SHELLS } from './shell-pages.js';
import { BORDERLINE, THIN, UNDECIDED } from './thin-pages.js';
import { UNSEEN_CHALLENGES, UNSEEN_HONEST, UNSEEN_SHELLS } from './unseen-pages.js';

/** Doors with no mark but a widget and words, or with much to read. */
const WORDY_DOORS =
  'turnstileGate cloudflareBlock impervaPardon recaptchaWall hcaptchaWall homeMade shopCaptcha anubis'.split(' ');
/** Shells that say something, bear no usual name, or hold the words of a page in a script. */
const FURNISHED_SHELLS = ['framed', 'nextStreamed', 'homeMade', 'inlineState', 'webComponents'];

/** Pages of each maker; a third of them is held out. */
export const EACH = 30;

export function madePages(each = EACH, firstSeed = 1): MadePage[] {
  return [
    ...makeAll({ ...CHALLENGES, ...LATER_CHALLENGES }, 'challenge', { each, firstSeed, isBorderline: WORDY_DOORS }),
    ...makeAll({ ...SHELLS, ...LATER_SHELLS }, 'script_shell', {
      each,
      firstSeed: firstSeed + 1_000_003,
      isBorderline: FURNISHED_SHELLS,
    }),
    ...makeAll({ ...THIN, ...LATER_HONEST }, null, { each, firstSeed: firstSeed + 2_000_003 }),
    ...makeAll(BORDERLINE, null, { each, isBorderline: true, firstSeed: firstSeed + 3_000_017 }),
  ];
}

/** Pages of which nobody can say what they are. */
export function undecidedPages(): MadePage[] {
  return makeAll(UNDECIDED, null, { each: 3, isBorderline: true, firstSeed: 4_000_037 });
}

/** Pages of kinds that nothing was tuned by. */
export function unseenPages(each = EACH): MadePage[] {
  return [
    ...makeAll(UNSEEN_CHALLENGES, 'challenge', { each, firstSeed: 5_000_011 }),
    ...makeAll(UNSEEN_SHELLS, 'script_shell', { each, firstSeed: 6_000_011 }),
    ...makeAll(UNSEEN_HONEST, null, { each, firstSeed: 7_000_003 }),
  ];
}
