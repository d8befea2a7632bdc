import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import type { ChallengeTerms } from '../../src/domain/parsing.js';
import {
  challengeOf,
  type ChallengeMeasures,
  isWorthALook,
  MARKERS_TEXT_MAX,
  type PageMake,
  PHRASES_TEXT_MAX,
} from '../../src/policy/challenge.js';
import { HEADERS, MARKERS, PHRASES, TITLES } from '../../src/policy/challenge-markers.js';
import { CHALLENGE_TERMS } from '../support/challenge-terms.js';

const MAKE: PageMake = {
  addresses: '',
  code: '',
  names: new Set(),
  said: '',
  plea: '',
  links: 0,
  images: 0,
  frames: 0,
  media: 0,
  fields: 0,
  ownScripts: 1,
  isBuilt: false,
  holder: null,
  isPassing: false,
  isShadowed: false,
};
const PAGE: ChallengeMeasures = {
  status: 200,
  headers: [],
  title: null,
  text: 'x'.repeat(300),
  markupBytes: 900,
  make: MAKE,
};

const judged = (changes: Partial<ChallengeMeasures>, terms: Partial<ChallengeTerms> = {}) =>
  challengeOf({ ...PAGE, ...changes }, { ...CHALLENGE_TERMS, ...terms });
const kindOf = (...given: Parameters<typeof judged>) => judged(...given)?.kind ?? null;
const made = (changes: Partial<PageMake>): { make: PageMake } => ({ make: { ...MAKE, ...changes } });
const text = (length: number) => ({ text: 'x'.repeat(length) });

describe('markers', () => {
  const code = { code: 'window._cf_chl_opt={cvid:3}' };

  it('of a door condemn what says as much as a door, and no more', () => {
    expect(kindOf(made(code))).toBe('challenge');
    expect(kindOf({ ...made(code), ...text(1_500) })).toBe('challenge');
    expect(kindOf({ ...made(code), ...text(1_501) })).toBe(null);
    const two = made({ ...code, addresses: 'https://geo.captcha-delivery.com/captcha/' });
    expect(kindOf({ ...two, ...text(MARKERS_TEXT_MAX) })).toBe('challenge');
    expect(kindOf({ ...two, ...text(MARKERS_TEXT_MAX + 1) })).toBe(null);
  });

  it('that are names count as a whole, and hardly on a page that shows more', () => {
    expect(kindOf(made({ names: new Set(['px-captcha']) }))).toBe('challenge');
    expect(kindOf(made({ names: new Set(['my-px-captcha-notes']) }))).toBe(null);
    expect(kindOf(made({ names: new Set(['px-captcha']), links: 6 }))).toBe(null);
  });

  it('that a widget bears need words beside it, and no form of the page itself', () => {
    const widget = { names: new Set(['cf-turnstile']), ownScripts: 0 };
    const asks = { text: 'Please verify you are human.' };
    expect(kindOf({ ...made(widget), text: 'Welcome to our garden.' })).toBe(null);
    expect(kindOf({ ...made(widget), ...asks })).toBe('challenge');
    expect(kindOf({ ...made({ ...widget, fields: 1 }), ...asks })).toBe(null);
  });

  it('may be followed by what makes them something else', () => {
    const at = (path: string) => made({ addresses: `/cdn-cgi/challenge-platform/${path}\n` });
    expect(kindOf(at('h/b/orchestrate/chl_page/v1'))).toBe('challenge');
    expect(kindOf(at('scripts/jsd/main.js'))).toBe(null);
    expect(kindOf(at('scripts/jsd/main.js\n/cdn-cgi/challenge-platform/h/g/orchestrate'))).toBe('challenge');
  });

  it('of a refusal alone are none: every server has such a title', () => {
    expect(kindOf({ status: 403, title: '403 Forbidden', text: '403 Forbidden nginx' })).toBe(null);
    expect(kindOf({ status: 403, title: 'Security check', ...text(900) })).toBe('challenge');
    expect(kindOf({ status: 404, title: 'Security check', ...text(900) })).toBe(null);
  });

  it('can be added, as can headers', () => {
    const own = made({ code: 'ourguard.check()', addresses: '/our-guard/Door.js'.toLowerCase() });
    expect(kindOf(own)).toBe(null);
    expect(kindOf(own, { markers: ['/Our-Guard/door.js'] })).toBe('challenge');
    expect(kindOf(own, { markers: ['ourGuard . check('] })).toBe('challenge');
    const headers = [['X-Guard', 'Denied']] as const;
    expect(kindOf({ headers })).toBe(null);
    for (const header of ['x-guard', 'X-Guard: denied', 'x-guard:denied']) {
      expect(kindOf({ headers }, { headers: [header] })).toBe('challenge');
    }
    expect(kindOf({ headers }, { headers: ['x-guard: passed'] })).toBe(null);
  });
});

describe('density', () => {
  const bytes = (markupBytes: number) => ({ markupBytes, text: '', ...made({}) });

  it('condemns above 2 048 bytes with less than 200 characters, where nothing is said or shown', () => {
    expect(kindOf(bytes(2_048))).toBe(null);
    expect(kindOf(bytes(2_049))).toBe('script_shell');
    expect(kindOf(bytes(2_049), { densityMarkupBytes: 2_049 })).toBe(null);
    const words = (length: number) => ({
      markupBytes: 9_000,
      ...text(length),
      ...made({ said: '', plea: 'enable javascript' }),
    });
    expect(kindOf(words(199))).toBe('script_shell');
    expect(kindOf(words(200))).toBe(null);
    expect(kindOf(words(200), { densityTextCharacters: 201 })).toBe('script_shell');
  });

  it.each([
    { links: 1 },
    { images: 2 },
    { frames: 1 },
    { media: 1 },
    { fields: 1 },
    { ownScripts: 0 },
    { isPassing: true },
    { isShadowed: true },
    { said: 'we open in spring, with music' },
  ])('lets a thin page be that shows or leads to something: %j', (changes) => {
    expect(kindOf({ ...bytes(9_000), ...made(changes) })).toBe(null);
  });

  it('an empty holder of the usual name needs no size', () => {
    const holder = { name: '#root', isUsual: true, said: '', shown: 0 };
    expect(kindOf({ text: '', markupBytes: 300, ...made({ holder }) })).toBe('script_shell');
    const filled = { ...holder, said: 'no results were found for it' };
    expect(kindOf({ text: filled.said, markupBytes: 300, ...made({ holder: filled, said: filled.said }) })).toBe(null);
  });
});

describe('each look', () => {
  it.each([
    ['byHeaders', { headers: [['cf-mitigated', 'challenge']] as const }],
    ['byMarkers', made({ addresses: '/.well-known/ddos-guard/js' })],
    ['byDensity', { text: '', markupBytes: 5_000 }],
  ] as const)('can be switched off: %s', (look, changes) => {
    expect(judged(changes)).not.toBe(null);
    expect(judged(changes, { [look]: false })).toBe(null);
  });
});

describe('what is known', () => {
  it('is written as it is compared: in lower case, no blank in a marker, no two alike', () => {
    for (const { text: marker } of MARKERS) expect(marker).toMatch(/^[^\sA-Z]+$/);
    for (const phrase of [...PHRASES, ...HEADERS, ...TITLES.keys()]) {
      expect(phrase).toBe(phrase.toLowerCase().trim());
      expect(phrase).not.toBe('');
    }
    const spelled = MARKERS.map(({ text: marker, places }) => `${marker} ${places}`);
    expect(new Set(spelled).size).toBe(spelled.length);
  });

  it('is found at first sight wherever it stands, and any of it is worth a closer look', () => {
    for (const { text: marker } of MARKERS) {
      const source = `<script> ${marker.toUpperCase().replace(/([=("'])/g, ' $1 ')} </script>`;
      expect([
        marker,
        isWorthALook({ title: null, text: 'x'.repeat(3_000), links: 0, source }, CHALLENGE_TERMS),
      ]).toEqual([marker, true]);
    }
  });
});

// -- any page -----------------------------------------------------------------------------------------------------

const counts = fc.nat({ max: 8 });
const pieces = fc.constantFrom(...MARKERS.map(({ text: marker }) => marker), 'main.js', 'a', '\n');
const make: fc.Arbitrary<PageMake> = fc.record({
  addresses: fc.array(pieces, { maxLength: 4 }).map((all) => all.join('\n')),
  code: fc.array(pieces, { maxLength: 4 }).map((all) => all.join('')),
  names: fc.array(pieces, { maxLength: 4 }).map((all) => new Set(all)),
  said: fc.constantFrom('', 'loading', 'some words that are said'),
  plea: fc.constantFrom('', 'please enable javascript'),
  links: counts,
  images: counts,
  frames: counts,
  media: counts,
  fields: counts,
  ownScripts: counts,
  isBuilt: fc.boolean(),
  holder: fc.option(
    fc.record({ name: fc.constant('#root'), isUsual: fc.boolean(), said: fc.constantFrom('', 'words'), shown: counts }),
  ),
  isPassing: fc.boolean(),
  isShadowed: fc.boolean(),
});
const quotes = fc.constantFrom(
  ...PHRASES,
  ...TITLES.keys(),
  ...MARKERS.map(({ text: marker }) => marker),
  'some words',
);
const page: fc.Arbitrary<ChallengeMeasures> = fc.record({
  status: fc.option(fc.constantFrom(200, 202, 401, 403, 404, 429, 503)),
  headers: fc.array(
    fc.tuple(
      fc.constantFrom('cf-mitigated', 'x-datadome', 'server', 'X-Amzn-WAF-Action'),
      fc.constantFrom('challenge', 'captcha', 'protected', ''),
    ),
    { maxLength: 3 },
  ),
  title: fc.option(quotes),
  text: fc.array(quotes, { maxLength: 200 }).map((all) => all.join(' ')),
  markupBytes: fc.nat(10_000),
  make: fc.option(make),
});
const terms: fc.Arbitrary<ChallengeTerms> = fc.record({
  byHeaders: fc.boolean(),
  byMarkers: fc.boolean(),
  byDensity: fc.boolean(),
  markers: fc.array(
    pieces.filter((piece) => piece.length > 5),
    { maxLength: 2 },
  ),
  headers: fc.constantFrom([], ['server'], ['server: challenge']),
  densityMarkupBytes: fc.nat(5_000),
  densityTextCharacters: fc.nat(500),
});

describe('any page', () => {
  it('is judged, the same way twice, and with a reason when it is condemned', () => {
    fc.assert(
      fc.property(page, terms, (given, under) => {
        const finding = challengeOf(given, under);
        expect(challengeOf(given, under)).toEqual(finding);
        if (finding !== null) {
          expect(['challenge', 'script_shell']).toContain(finding.kind);
          expect(finding.reasons.length).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('is not condemned for 2 000 characters more of an article, whatever they quote', () => {
    fc.assert(
      fc.property(page, quotes, terms, (given, quote, under) => {
        const article = `${quote} ${'words of an article '.repeat(100)}`;
        const longer = challengeOf({ ...given, text: `${given.text} ${article}` }, under);
        const plain = { ...given, text: 'w'.repeat(given.text.length) };
        if (longer?.kind === 'challenge') expect(challengeOf(plain, { ...under, byDensity: false })).not.toBe(null);
        expect(longer?.kind).not.toBe('script_shell');
      }),
    );
  });

  it('that says more than a door is judged the same whatever it says', () => {
    fc.assert(
      fc.property(page, fc.array(quotes, { minLength: 1, maxLength: 20 }), terms, (given, quoted, under) => {
        const said = quoted.join(' ').padEnd(PHRASES_TEXT_MAX + 1, ' words');
        const plain = 'w'.repeat(said.length);
        expect(challengeOf({ ...given, text: said }, under)).toEqual(challengeOf({ ...given, text: plain }, under));
      }),
    );
  });
});

it('the bounds of the density are options', () => {
  const { challenge } = configSchema.parse({ challenge: { densityMarkupBytes: 1, densityTextCharacters: 2 } });
  expect(challenge).toMatchObject({ densityMarkupBytes: 1, densityTextCharacters: 2, byDensity: true });
});
