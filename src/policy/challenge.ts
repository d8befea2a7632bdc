/**
 * Is this page a page, or what stands in its place: a door that wants to know who asks (`challenge`), or a page that
 * shows nothing before its scripts have run (`script_shell`)?
 *
 * Three looks, each of which can be switched off. Headers say it outright. Markers are weighed, and the more a page says
 * the more must speak against it: what stands in visible text speaks never against a page that says more than a door
 * does, so that an article about such doors is an article. Density: a page of some size that says next to nothing,
 * shows nothing and leads nowhere waits for its scripts; so does one of any size whose holder for their work is empty.
 *
 * Invariants:
 * 1. Total and deterministic.
 * 2. Monotone: more visible text never makes a page a door, beyond `PHRASES_TEXT_MAX`.
 */
import type { ChallengeFinding, ChallengeTerms } from '../domain/parsing.js';
import type { Header } from '../domain/fetching.js';
import {
  HEADERS,
  LOADING_WORDS,
  type Marker,
  MARKERS,
  PHRASES,
  REFUSAL_HEADERS,
  SCRIPT_PLEAS,
  TITLES,
  type Weight,
  WEIGHTS,
} from './challenge-markers.js';

export interface ChallengeMeasures {
  /** Null where nobody knows it, as of a file. */
  readonly status: number | null;
  readonly headers: readonly Header[];
  readonly title: string | null;
  /** Visible; white space joined. */
  readonly text: string;
  readonly markupBytes: number;
  /** Null where the page was not looked at closely: see `isWorthALook`. */
  readonly make: PageMake | null;
}

/** What a page is made of, as far as a door or a shell shows by it. */
export interface PageMake {
  /** Of scripts, frames, forms, pictures, link elements and refreshes, in lower case, one a line. */
  readonly addresses: string;
  /** Scripts that run, in lower case, without white space. */
  readonly code: string;
  /** Ids, classes, names of fields and custom elements, in lower case. */
  readonly names: ReadonlySet<string>;
  /** Visible to who runs scripts, in lower case, white space joined, up to a bound. */
  readonly said: string;
  /** The content of `noscript`, likewise. */
  readonly plea: string;
  /** Counted outside `noscript`: links to other documents, and what is shown beside text. */
  readonly links: number;
  readonly images: number;
  readonly frames: number;
  readonly media: number;
  /** Fields that a person fills in. */
  readonly fields: number;
  /** Scripts that may make the page: neither data nor those of well-known services. */
  readonly ownScripts: number;
  /** One of these bears a builder's name, or is a module. */
  readonly isBuilt: boolean;
  readonly holder: Holder | null;
  /** A refresh sends its readers on. */
  readonly isPassing: boolean;
  /** Its text stands in shadow roots, which browsers show and a reader of markup does not see. */
  readonly isShadowed: boolean;
}

/** The element that scripts fill. */
export interface Holder {
  readonly name: string;
  /** Its name is one that builders of such pages give it. */
  readonly isUsual: boolean;
  /** What stands in it before, in lower case. */
  readonly said: string;
  /** Links, pictures, fields and frames in it. */
  readonly shown: number;
}

/** Words of a door count up to here: a longer text is an article. */
export const PHRASES_TEXT_MAX = 600;
/** What must speak against a page, by what it says. The last: beyond it only headers do. */
const BARE_TEXT_MAX = 400;
const DOOR_TEXT_MAX = 1_500;
export const MARKERS_TEXT_MAX = 4_000;
/** What a script does speaks for a door where it does it without a word. */
const DEED_TEXT_MAX = 100;
const POINTS_BARE = 3;
const POINTS_DOOR = 4;
const POINTS_WORDY = 8;
/** A page that shows more than that is not bare. */
const BARE_LINKS_MAX = 5;
const BARE_IMAGES_MAX = 3;

/** No door leads to so many places and things. */
const DOOR_LINKS_MAX = 40;

const REFUSING = new Set([401, 403, 405, 429, 503]);

/** Null for a page. */
export function challengeOf(measures: ChallengeMeasures, terms: ChallengeTerms): ChallengeFinding | null {
  const byHeaders = terms.byHeaders ? headersAgainst(measures.headers, terms) : [];
  if (byHeaders.length > 0) return { kind: 'challenge', reasons: byHeaders };
  const byMarkers = terms.byMarkers ? markersAgainst(measures, terms) : [];
  if (byMarkers.length > 0) return { kind: 'challenge', reasons: byMarkers };
  const byDensity = terms.byDensity ? shellReasons(measures, terms) : [];
  return byDensity.length > 0 ? { kind: 'script_shell', reasons: byDensity } : null;
}

export interface FirstSight {
  readonly title: string | null;
  /** Visible; white space joined. */
  readonly text: string;
  /** Links of any kind, pictures and style sheets as well. */
  readonly links: number;
  /** The page as text, markup and all. */
  readonly source: string;
}

/** Whether the make of a page could speak against it: hardly ever, so that ordinary pages are read once. */
export function isWorthALook({ title, text, links, source }: FirstSight, terms: ChallengeTerms): boolean {
  if (terms.byDensity && text.length < terms.densityTextCharacters) return true;
  if (!terms.byMarkers || text.length > MARKERS_TEXT_MAX || links > DOOR_LINKS_MAX) return false;
  if (title !== null && titleWeight(title) !== undefined) return true;
  if (text.length <= PHRASES_TEXT_MAX && phraseIn(text.toLowerCase()) !== undefined) return true;
  if (text.length <= DEED_TEXT_MAX && source.includes('document.cookie')) return true;
  return traceOf(terms.markers).test(source);
}

// -- headers ----------------------------------------------------------------------------------------------------

function headersAgainst(headers: readonly Header[], terms: ChallengeTerms): string[] {
  const reasons: string[] = [];
  for (const [name, value] of headers) {
    const known = headerIn(HEADERS, name, value) ?? headerIn(terms.headers, name, value);
    if (known !== undefined) reasons.push(`it came with the header ${known}`);
  }
  return reasons;
}

function headerIn(known: readonly string[], name: string, value: string): string | undefined {
  return known.find((header) => {
    const [wantedName = '', wantedValue] = header.toLowerCase().split(/: ?/, 2);
    if (name.toLowerCase() !== wantedName) return false;
    return wantedValue === undefined || value.toLowerCase().trim() === wantedValue.trim();
  });
}

// -- markers ----------------------------------------------------------------------------------------------------

interface Evidence {
  readonly points: number;
  readonly reason: string;
}

function markersAgainst(measures: ChallengeMeasures, terms: ChallengeTerms): string[] {
  const { text, make } = measures;
  if (make === null || text.length > MARKERS_TEXT_MAX) return [];
  const evidence = isBare(make) ? evidenceInBare(measures, make, terms) : evidenceInMake(make, terms, 'slight');
  // What pages have as well, such as a refusal's title, is none alone.
  if (!evidence.some(({ points }) => points > WEIGHTS.slight)) return [];
  const points = evidence.reduce((sum, { points }) => sum + points, isRefusing(measures) ? WEIGHTS.likely : 0);
  return points < pointsNeeded(text.length, make) ? [] : evidence.map(({ reason }) => reason);
}

function pointsNeeded(textLength: number, make: PageMake): number {
  if (textLength <= BARE_TEXT_MAX && isBare(make)) return POINTS_BARE;
  return textLength <= DOOR_TEXT_MAX ? POINTS_DOOR : POINTS_WORDY;
}

/** Next to nothing is shown, asked or linked beside its text. */
function isBare({ links, images, fields, media }: PageMake): boolean {
  return links <= BARE_LINKS_MAX && images <= BARE_IMAGES_MAX && fields === 0 && media === 0;
}

function isRefusing({ status }: ChallengeMeasures): boolean {
  return status !== null && REFUSING.has(status);
}

/** Of a bare page its title, its words, what it is and what it came with speak as well. */
function evidenceInBare(measures: ChallengeMeasures, make: PageMake, terms: ChallengeTerms): Evidence[] {
  const { title, text, headers } = measures;
  const evidence = evidenceInMake(make, terms, 'sure');
  const weight = title === null ? undefined : titleWeight(title);
  if (weight !== undefined) evidence.push({ points: WEIGHTS[weight], reason: `its title is that of a door: ${title}` });
  const phrase = text.length <= PHRASES_TEXT_MAX ? phraseIn(text.toLowerCase()) : undefined;
  if (phrase !== undefined) evidence.push({ points: WEIGHTS.likely, reason: `it says what doors say: ${phrase}` });
  if (isRefusing(measures)) {
    for (const [name] of headers) {
      if (!REFUSAL_HEADERS.includes(name.toLowerCase())) continue;
      evidence.push({ points: WEIGHTS.likely, reason: `it was refused with the header ${name.toLowerCase()}` });
    }
  }
  const deed = text.length <= DEED_TEXT_MAX ? deedIn(make.code) : null;
  if (deed !== null) evidence.push(deed);
  if (evidence.length > 0 && make.links === 0 && make.ownScripts > 0) {
    evidence.push({ points: WEIGHTS.slight, reason: 'it has scripts and leads nowhere' });
  }
  return evidence;
}

/** Who can keep a cookie and comes again is a browser: what the plainest of doors want to know. */
function deedIn(code: string): Evidence | null {
  if (!code.includes('document.cookie=')) return null;
  if (/\blocation\.reload\(/.test(code)) {
    return { points: WEIGHTS.sure, reason: 'its script sets a cookie and loads it again' };
  }
  const isGoing = /\blocation(?:\.href)?=|\blocation\.(?:replace|assign)\(/.test(code);
  return isGoing ? { points: WEIGHTS.likely, reason: 'its script sets a cookie and goes on' } : null;
}

/** One piece for each vendor, the heaviest. @param namesAtMost names that are no address weigh no more. */
function evidenceInMake(make: PageMake, terms: ChallengeTerms, namesAtMost: Weight): Evidence[] {
  const heaviest = new Map<string, Evidence>();
  const weigh = (vendor: string, points: number, reason: string) => {
    if (points > (heaviest.get(vendor)?.points ?? 0)) heaviest.set(vendor, { points, reason });
  };
  for (const marker of MARKERS) {
    const { vendor, text, weight } = marker;
    if (stands(marker, make)) weigh(vendor, WEIGHTS[weight], `it bears a marker of ${vendor}: ${text}`);
    if (marker.places.includes('name') && make.names.has(text)) {
      const points = Math.min(WEIGHTS[weight], WEIGHTS[namesAtMost]);
      weigh(vendor, points, `it bears a name of ${vendor}: ${text}`);
    }
  }
  for (const marker of terms.markers) {
    if (isConfigured(marker.toLowerCase(), make))
      weigh(marker, WEIGHTS.sure, `it bears a configured marker: ${marker}`);
  }
  return [...heaviest.values()];
}

function stands({ places, text, unless }: Marker, { addresses, code }: PageMake): boolean {
  if (places.includes('address') && occurs(addresses, text, unless)) return true;
  return places.includes('code') && occurs(code, text, unless);
}

/** How far behind a marker it is looked for what makes it something else. */
const UNLESS_CHARACTERS = 60;

function occurs(where: string, text: string, unless: readonly string[] = []): boolean {
  for (let at = where.indexOf(text); at >= 0; at = where.indexOf(text, at + text.length)) {
    const [behind = ''] = where.slice(at, at + text.length + UNLESS_CHARACTERS).split('\n', 1);
    if (!unless.some((other) => behind.includes(other))) return true;
  }
  return false;
}

function isConfigured(marker: string, { addresses, code, names }: PageMake): boolean {
  return addresses.includes(marker) || code.includes(marker.replace(/\s+/g, '')) || names.has(marker);
}

function titleWeight(title: string): Weight | undefined {
  return title.length > 100 ? undefined : TITLES.get(title.toLowerCase().replace(/…/g, '...').replace(/[’‘]/g, "'"));
}

/** @param text in lower case. */
function phraseIn(text: string): string | undefined {
  const plain = text.replace(/[’‘]/g, "'");
  return PHRASES.find((phrase) => plain.includes(phrase));
}

let trace: { readonly key: string; readonly pattern: RegExp } | null = null;

/** What finds any marker in markup, wherever it stands. The newest is kept: terms hardly ever change. */
function traceOf(markers: readonly string[]): RegExp {
  const key = markers.join('\n');
  if (trace?.key !== key) {
    const parts = new Set([...MARKERS.map(({ text }) => tellingPart(text)), ...markers.map(firstWord)]);
    trace = { key, pattern: new RegExp([...parts].map(escaped).join('|'), 'i') };
  }
  return trace.pattern;
}

/** White space may stand around signs in a script, and not in a word. */
function tellingPart(text: string): string {
  return text.split(/[^a-z0-9_./:?=-]+|=/).reduce((longest, part) => (part.length > longest.length ? part : longest));
}

function firstWord(text: string): string {
  return text.trim().split(/\s/, 1)[0] ?? text;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

// -- density ----------------------------------------------------------------------------------------------------

/** A name, a line in the footer: what a shell says beside its holder. */
const SHELL_TEXT_MAX = 120;
/** `Loading`, a brand: what stands in a holder without being its content. */
const WORD_TEXT_MAX = 16;
const LOADING_TEXT_MAX = 100;
const SHELL_LINKS_MAX = 3;

function shellReasons({ text, markupBytes, make }: ChallengeMeasures, terms: ChallengeTerms): string[] {
  if (make === null || text.length >= terms.densityTextCharacters) return [];
  if (make.ownScripts === 0 || make.isPassing || make.isShadowed) return [];
  if (make.frames + make.media + make.fields > 0 || make.images > 1) return [];
  const isWeighty = make.isBuilt || markupBytes > terms.densityMarkupBytes;
  const reasons = [holderReason(make, isWeighty), pleaReason(make), silenceReason(make, isWeighty)].filter(
    (reason) => reason !== null,
  );
  if (reasons.length === 0) return [];
  return [`it says ${text.length} characters in ${markupBytes} bytes of markup`, ...reasons];
}

function holderReason({ holder, said, links }: PageMake, isWeighty: boolean): string | null {
  if (holder === null || links > SHELL_LINKS_MAX || said.length > SHELL_TEXT_MAX) return null;
  if (holder.shown > 1 || !isNothing(holder.said)) return null;
  if (!holder.isUsual && !(isWeighty && links === 0 && isNothing(said))) return null;
  return `its element ${holder.name} waits for scripts to fill it`;
}

function pleaReason({ plea, said, links }: PageMake): string | null {
  if (links > 0 || !isNothing(said)) return null;
  return SCRIPT_PLEAS.some((pattern) => pattern.test(plea))
    ? 'without scripts it asks for scripts and says no more'
    : null;
}

function silenceReason({ said, links }: PageMake, isWeighty: boolean): string | null {
  return isWeighty && links === 0 && isNothing(said) ? 'it has scripts, and says and shows nothing' : null;
}

function isNothing(said: string): boolean {
  return said.length <= WORD_TEXT_MAX || (said.length <= LOADING_TEXT_MAX && LOADING_WORDS.test(said));
}
