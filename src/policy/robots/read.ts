/**
 * Reading a robots.txt: from bytes to the rules of the one group that applies (RFC 9309 §2.2, §2.3, §2.5).
 *
 * Every byte string is a robots.txt: an error page, a picture and an empty file are files without rules. Nothing here
 * throws on content, and the work is linear in the bytes read.
 *
 * Which group a line belongs to is the delicate part. User-agent lines collect addressees until a rule closes the
 * list; the next User-agent line then begins a new one. Only Allow and Disallow close it, empty ones too: any other
 * line MUST NOT (§2.2.4). A Crawl-delay is the exception in one direction: it ends the list of those that the *next*
 * Crawl-delay speaks to, because files list agents with a delay each above rules that they share. Groups of one token
 * are merged; the own token seen anywhere, even without rules, switches the `*` group off (§2.2.1).
 */
import { addresseeOf } from './agent.js';
import { canonicalPattern, octetsOf, utf8Of } from './octets.js';
import {
  ROBOTS_BYTES_MAX,
  ROBOTS_LINE_OCTETS_MAX,
  ROBOTS_SITEMAPS_MAX,
  type RobotsRule,
  type RobotsRemark,
  type RobotsRules,
} from './rules.js';

/** Whether the bytes are the whole file, or were cut at a bound before it ended. */
export type Ending = 'whole' | 'cut';

/**
 * Reads a file for one product token.
 *
 * `bytes` are after content coding. `robotsUrl` is the URL that was asked first, whatever redirects followed: relative
 * sitemaps are resolved against it. Of a file that was cut, or is longer than `ROBOTS_BYTES_MAX`, the unfinished last
 * line is dropped: half a rule is another rule.
 */
export function readRobots(
  bytes: Uint8Array,
  productToken: string,
  robotsUrl: string,
  ending: Ending = 'whole',
): RobotsRules {
  const reading = new Reading(productToken.toLowerCase(), robotsUrl);
  const octets = octetsOf(bytes.subarray(byteOrderMarkLength(bytes), readableLength(bytes, ending)));
  forEachLine(octets, (line, number) => reading.take(line, number));
  const result = reading.result(bytes.length);
  const remark = remarkOn(octets, result, ending);
  return remark === null ? result : { ...result, remark };
}

/** Where it says nothing to anybody: a `<` begins no line that robots.txt knows. */
const MARKUP = /^[\s\0]*<(?:!--|(?:!doctype|html|head|body|script|meta|\?xml)\b)/i;

function remarkOn(octets: string, { bytes, rules, sitemaps }: RobotsRules, ending: Ending): RobotsRemark | null {
  if (rules.length + sitemaps.length === 0 && MARKUP.test(octets)) return 'markup';
  return ending === 'cut' || bytes > ROBOTS_BYTES_MAX ? 'cut' : null;
}

/** The groups of interest while a file is being read, and who is being spoken to. */
interface Group {
  readonly rules: RobotsRule[];
  crawlDelaySeconds: number | null;
  /** Named in the list of agents that rules go to. */
  rulesApply: boolean;
  /** Named in the list of agents that a Crawl-delay goes to. */
  delayApplies: boolean;
}

class Reading {
  private readonly own = emptyGroup();
  private readonly any = emptyGroup();
  private readonly sitemaps = new Set<string>();
  private ownSeen = false;
  private listClosed = false;
  private delayListClosed = false;

  constructor(
    private readonly token: string,
    private readonly robotsUrl: string,
  ) {}

  take(raw: string, number: number): void {
    const parts = splitLine(raw);
    if (parts === null) return;
    switch (DIRECTIVES.get(parts.key)) {
      case 'user-agent':
        this.address(parts.value);
        break;
      case 'allow':
        this.rule(true, parts.value, raw, number);
        break;
      case 'disallow':
        this.rule(false, parts.value, raw, number);
        break;
      case 'crawl-delay':
        this.delay(parts.value);
        break;
      case 'sitemap':
        this.sitemap(parts.value);
        break;
      case undefined:
        break;
    }
  }

  result(bytes: number): RobotsRules {
    const { rules, crawlDelaySeconds } = this.group();
    return { rules, crawlDelaySeconds, sitemaps: [...this.sitemaps], bytes };
  }

  /** From the first sight of the own token on, what is said to everybody can't matter any more. */
  private group(): Group {
    return this.ownSeen ? this.own : this.any;
  }

  private address(value: string): void {
    if (this.listClosed) this.own.rulesApply = this.any.rulesApply = false;
    if (this.delayListClosed) this.own.delayApplies = this.any.delayApplies = false;
    this.listClosed = this.delayListClosed = false;
    const addressee = addresseeOf(value);
    if (addressee?.kind === 'any') this.any.rulesApply = this.any.delayApplies = true;
    if (addressee?.kind === 'token' && addressee.token === this.token) {
      this.own.rulesApply = this.own.delayApplies = this.ownSeen = true;
    }
  }

  private rule(allow: boolean, value: string, raw: string, line: number): void {
    this.listClosed = this.delayListClosed = true;
    const group = this.group();
    if (!group.rulesApply || !(value.startsWith('/') || value.startsWith('*'))) return;
    group.rules.push({ allow, pattern: canonicalPattern(value), line, text: utf8Of(trim(raw)) });
  }

  private delay(value: string): void {
    this.delayListClosed = true;
    const seconds = DELAY.test(value) ? Number(value) : Number.POSITIVE_INFINITY;
    if (!Number.isFinite(seconds)) return;
    const group = this.group();
    if (group.delayApplies) group.crawlDelaySeconds = Math.max(group.crawlDelaySeconds ?? 0, seconds);
  }

  private sitemap(value: string): void {
    if (value === '' || this.sitemaps.size >= ROBOTS_SITEMAPS_MAX) return;
    const text = utf8Of(value);
    if (!URL.canParse(text, this.robotsUrl)) return;
    const url = new URL(text, this.robotsUrl);
    if (url.protocol === 'https:' || url.protocol === 'http:') this.sitemaps.add(url.href);
  }
}

function emptyGroup(): Group {
  return { rules: [], crawlDelaySeconds: null, rulesApply: false, delayApplies: false };
}

type Directive = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap';

/** Keys in lower case, with the misspellings that the reference matcher forgives. */
const DIRECTIVES: ReadonlyMap<string, Directive> = new Map([
  ['user-agent', 'user-agent'],
  ['useragent', 'user-agent'],
  ['user agent', 'user-agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['crawl-delay', 'crawl-delay'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
]);

const DELAY = /^(?:\d+(?:\.\d*)?|\.\d+)$/;

/** Without a colon a line counts if it is exactly two words. */
const TWO_WORDS = /^([^ \t]+)[ \t]+([^ \t]+)$/;
const CUT_FROM = /[#\0]/;

function splitLine(raw: string): { key: string; value: string } | null {
  const end = raw.search(CUT_FROM);
  const line = trim(end < 0 ? raw : raw.slice(0, end));
  if (line === '') return null;
  const colon = line.indexOf(':');
  if (colon >= 0) return { key: trim(line.slice(0, colon)).toLowerCase(), value: trim(line.slice(colon + 1)) };
  const words = TWO_WORDS.exec(line);
  return words === null ? null : { key: (words[1] as string).toLowerCase(), value: words[2] as string };
}

/** Calls for every line that isn't empty, cut at its bound; lines end in CR LF, CR or LF and count from 1. */
function forEachLine(octets: string, visit: (line: string, number: number) => void): void {
  let from = 0;
  let number = 1;
  for (let at = 0; at <= octets.length; at++) {
    const code = at === octets.length ? LF : octets.charCodeAt(at);
    if (code !== LF && code !== CR) continue;
    if (at > from) visit(octets.slice(from, Math.min(at, from + ROBOTS_LINE_OCTETS_MAX)), number);
    if (code === CR && octets.charCodeAt(at + 1) === LF) at++;
    from = at + 1;
    number++;
  }
}

const CR = 13;
const LF = 10;

/** How many of the bytes are read: all, or up to the last line end within the bound. */
function readableLength(bytes: Uint8Array, ending: Ending): number {
  if (ending === 'whole' && bytes.length <= ROBOTS_BYTES_MAX) return bytes.length;
  let end = Math.min(bytes.length, ROBOTS_BYTES_MAX);
  while (end > 0 && bytes[end - 1] !== LF && bytes[end - 1] !== CR) end--;
  return end;
}

/** A UTF-8 byte order mark, or the beginning of one, is skipped. */
function byteOrderMarkLength(bytes: Uint8Array): number {
  if (bytes[0] !== 0xef) return 0;
  if (bytes[1] !== 0xbb) return 1;
  return bytes[2] === 0xbf ? 3 : 2;
}

/** Only space, tab, VT and FF are white space here; `String.trim` would eat no-break spaces too. */
function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 11 || code === 12;
}
