/**
 * Asking the rules: may this URL be requested, and which line says so (RFC 9309 §2.2.2, §2.2.3).
 *
 * robots-parser is the rule engine; its own lookup compares every rule with every octet of the URL and is replaced by
 * an index. The longest matching pattern wins, and Allow wins a tie, so:
 *
 * 1. patterns without wildcards are prefixes: one hash lookup for each length that occurs, the longest first;
 * 2. patterns with `*` or a final `$` are tried from the longest down, only while they could still beat (1), and the
 *    first hit wins. Their literal pieces are found greedily from the left, which is exact: no backtracking.
 *
 * A file may be hostile, and so may the URLs that lead to it. Once searches begin to cost, a piece is searched
 * for only if all its pairs of neighbouring octets occur in the URL; each search is charged at its worst. When the charge
 * passes `MATCH_COST_MAX` the question counts as answered with no: a crawler that can't find out doesn't ask.
 */
import robotsParser from 'robots-parser';
import { originOf } from '../../domain/host.js';
import { canonicalTarget } from './octets.js';
import type { RobotsRule, RobotsRules } from './rules.js';

export interface RobotsDecision {
  /** Null: the URL is of another origin, or no URL; this file has no say. */
  readonly allowed: boolean | null;
  /** The rule that decides; null where none matches, and beside `allowed: false` where looking would cost too much. */
  readonly rule: { readonly line: number; readonly text: string } | null;
}

export interface RobotsMatcher {
  /** Whether there is a rule that could disallow anything. */
  readonly disallowsSome: boolean;
  readonly decide: (url: string) => RobotsDecision;
}

/**
 * The worst a check may be charged: octets that searches may compare, and a little for each position. Any file that
 * was written for readers stays a hundred times below it; at the bound a check takes some ten milliseconds.
 */
export const MATCH_COST_MAX = 30_000_000;

/** What a position costs before its octets are compared: a search that keeps stopping and starting pays this. */
const POSITION_COST = 8;

/**
 * Makes rules answerable. `robotsUrl` is the absolute URL of the file as first asked (redirects don't change whom it
 * speaks for): its origin is the one that the rules are about; a trailing dot of a host makes no other. Throws TypeError
 * if it is no URL.
 */
export function compileRobots(rules: RobotsRules, robotsUrl: string): RobotsMatcher {
  const root = `${originOf(new URL(robotsUrl))}/`;
  const index = indexOf(rules.rules);
  const engine = createEngine(robotsUrl, '');
  let asked: string | null = null;
  let answer: Answer;
  engine._getRule = (url) => {
    if (url === asked) return answer;
    answer = ruleFor(url, root, index);
    asked = url;
    return answer;
  };
  return {
    disallowsSome: rules.rules.some(({ allow }) => !allow),
    decide: (url) => {
      const allowed = engine.isAllowed(url) ?? null;
      const rule = answer == null || answer === TOO_COSTLY ? null : { line: answer.lineNumber, text: answer.text };
      return { allowed, rule };
    },
  };
}

/** A rule as robots-parser wants it from its lookup, and the line's text. */
interface EngineRule {
  readonly allow: boolean;
  readonly lineNumber: number;
  readonly text: string;
}

/** Undefined: not about this URL. Null: no rule matches. */
type Answer = EngineRule | null | undefined;

/** robots-parser with its lookup, private by name only, laid open. Its version is pinned, and tests watch this seam. */
interface Engine {
  isAllowed(url: string): boolean | undefined;
  _getRule(url: string): Answer;
}

/** Its types say `export default` where the code says `module.exports`: hence the cast. */
const createEngine = robotsParser as unknown as (robotsUrl: string, contents: string) => Engine;

const TOO_COSTLY: EngineRule = { allow: false, lineNumber: 0, text: '' };

function ruleFor(url: string, root: string, index: Index): Answer {
  const target = targetOf(url, root);
  if (target === null) return undefined;
  if (target === '/robots.txt') return null;
  return lookUp(canonicalTarget(target), index);
}

/** What a URL parser would change in a path or query beyond escaping, or take for something else. */
const NEEDS_PARSER = /[^\x21-\x7e]|[\\#]|\/\.|\/%2e/i;

/**
 * A URL's path and query, an empty query's `?` included (`URL.search` would hide it); null for another origin or no
 * URL. `root` is the origin and a slash. URLs inside the engine are canonical, and need no parser to be taken apart.
 */
function targetOf(url: string, root: string): string | null {
  if (url.startsWith(root) && !NEEDS_PARSER.test(url)) return url.slice(root.length - 1);
  if (!URL.canParse(url)) return null;
  const parsed = new URL(url);
  if (`${originOf(parsed)}/` !== root) return null;
  const { href } = parsed;
  const from = href.indexOf('/', href.indexOf('//') + 2);
  const hash = href.indexOf('#', from);
  return hash < 0 ? href.slice(from) : href.slice(from, hash);
}

/** The rules of a file, laid out for questions. */
interface Index {
  readonly prefixes: ReadonlyMap<string, EngineRule>;
  /** Lengths that occur in `prefixes`, longest first. */
  readonly prefixLengths: readonly number[];
  /** Longest first; of one length Allow first. */
  readonly patterns: readonly Pattern[];
}

interface Pattern {
  readonly rule: EngineRule;
  /** Octets of the whole pattern, wildcards counted: its precedence. */
  readonly length: number;
  /** What the target begins with. */
  readonly head: string;
  /** What follows in this order, anything between. Never empty strings. */
  readonly pieces: readonly string[];
  readonly end: End;
}

/**
 * What must stand at the target's end. `here`: it ends where the head does. `tail`: with this text, somewhere behind
 * the pieces. `open`: with anything.
 */
type End = { readonly kind: 'open' } | { readonly kind: 'here' } | { readonly kind: 'tail'; readonly text: string };

function indexOf(rules: readonly RobotsRule[]): Index {
  const prefixes = new Map<string, EngineRule>();
  const patterns = new Map<string, Pattern>();
  for (const { allow, pattern, line, text } of rules) {
    const rule = { allow, lineNumber: line, text };
    if (pattern.includes('*') || pattern.endsWith('$')) {
      if (outranks(rule, patterns.get(pattern)?.rule)) patterns.set(pattern, patternOf(pattern, rule));
    } else if (outranks(rule, prefixes.get(pattern))) prefixes.set(pattern, rule);
  }
  const lengths = new Set<number>();
  for (const prefix of prefixes.keys()) lengths.add(prefix.length);
  return {
    prefixes,
    prefixLengths: [...lengths].sort((a, b) => b - a),
    patterns: [...patterns.values()].sort(byPrecedence),
  };
}

/** Of two rules with one pattern the first stays, but Allow beats Disallow. */
function outranks(rule: EngineRule, other: EngineRule | undefined): boolean {
  return other === undefined || (rule.allow && !other.allow);
}

function byPrecedence(a: Pattern, b: Pattern): number {
  return b.length - a.length || Number(b.rule.allow) - Number(a.rule.allow) || a.rule.lineNumber - b.rule.lineNumber;
}

function patternOf(pattern: string, rule: EngineRule): Pattern {
  const anchored = pattern.endsWith('$');
  const parts = (anchored ? pattern.slice(0, -1) : pattern).split('*');
  const [head = ''] = parts;
  const rest = parts.slice(1);
  const end: End = !anchored
    ? { kind: 'open' }
    : rest.length === 0
      ? { kind: 'here' }
      : { kind: 'tail', text: rest.pop() ?? '' };
  return { rule, length: pattern.length, head, pieces: rest.filter((piece) => piece !== ''), end };
}

function lookUp(target: string, index: Index): EngineRule | null {
  const prefix = longestPrefix(target, index);
  const search: Search = { target, pairs: null, cost: 0 };
  for (const pattern of index.patterns) {
    if (prefix !== null && !mayBeat(pattern, prefix)) break;
    if (matches(pattern, search)) return pattern.rule;
    if (search.cost > MATCH_COST_MAX) return TOO_COSTLY;
  }
  return prefix?.rule ?? null;
}

interface Prefix {
  readonly rule: EngineRule;
  readonly length: number;
}

function longestPrefix(target: string, { prefixes, prefixLengths }: Index): Prefix | null {
  for (const length of prefixLengths) {
    if (length > target.length) continue;
    const rule = prefixes.get(target.slice(0, length));
    if (rule !== undefined) return { rule, length };
  }
  return null;
}

function mayBeat(pattern: Pattern, prefix: Prefix): boolean {
  return (
    pattern.length > prefix.length || (pattern.length === prefix.length && pattern.rule.allow && !prefix.rule.allow)
  );
}

/** One question on its way through the patterns. */
interface Search {
  readonly target: string;
  /** Which pairs of neighbouring octets occur in the target; made when searches begin to cost. */
  pairs: Uint8Array | null;
  cost: number;
}

function matches({ head, pieces, end }: Pattern, search: Search): boolean {
  const { target } = search;
  if (!target.startsWith(head)) return false;
  if (end.kind === 'here') return target.length === head.length;
  const stop = end.kind === 'tail' ? target.length - end.text.length : target.length;
  if (stop < head.length || (end.kind === 'tail' && !target.endsWith(end.text))) return false;
  if (pieces.length === 0) return true;
  for (const piece of pieces) if (!mayOccur(piece, search)) return false;
  let from = head.length;
  for (const piece of pieces) {
    const at = target.indexOf(piece, from);
    search.cost += ((at < 0 ? target.length : at + 1) - from + 1) * (piece.length + POSITION_COST);
    if (at < 0 || at + piece.length > stop || search.cost > MATCH_COST_MAX) return false;
    from = at + piece.length;
  }
  return true;
}

/** Searches up to this charge are cheaper than making the table of pairs: the end of the matter for most files. */
const PAIRS_WORTH_COST = 50_000;

/** Canonical octets are ASCII: a pair of them is a number of 14 bits. */
const PAIRS = 1 << 14;

function mayOccur(piece: string, search: Search): boolean {
  if (search.cost < PAIRS_WORTH_COST) return true;
  search.pairs ??= pairsOf(search.target);
  for (let i = 1; i < piece.length; i++) {
    if (search.pairs[(piece.charCodeAt(i - 1) << 7) | piece.charCodeAt(i)] === 0) return false;
  }
  return true;
}

function pairsOf(target: string): Uint8Array {
  const pairs = new Uint8Array(PAIRS);
  for (let i = 1; i < target.length; i++) pairs[(target.charCodeAt(i - 1) << 7) | target.charCodeAt(i)] = 1;
  return pairs;
}
