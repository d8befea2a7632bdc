/**
 * Random robots.txt files and URLs, each decided in three ways: by the product's engine, by robots-parser through its
 * public interface (`wrapped`), and by a reference written from the RFC. They must agree on every one.
 */
import { compileRobots } from '../../../src/policy/robots/match.js';
import { readRobots } from '../../../src/policy/robots/read.js';
import { referenceAllows } from './reference.js';
import { allowedByWrapped } from './wrapped.js';

export interface Differential {
  readonly files: number;
  readonly checks: number;
  /** How often each answer came: a differential in which all are allowed would prove little. */
  readonly allowed: number;
  readonly disallowed: number;
  /** Of the disallowed and allowed, how many a rule decided. */
  readonly byRule: number;
  readonly disagreements: readonly Disagreement[];
}

export interface Disagreement {
  readonly robots: string;
  readonly url: string;
  readonly engine: boolean | null;
  readonly wrapped: boolean | null;
  readonly reference: boolean;
}

const ORIGIN = 'https://a.example';
const ROBOTS_URL = `${ORIGIN}/robots.txt`;
const TOKEN = 'FooBot';
const URLS_A_FILE = 4;

/** @param files how many; the same seed brings the same ones */
export function differ(seed: number, files: number): Differential {
  const draw = drawsFrom(seed);
  const tally = { allowed: 0, disallowed: 0, byRule: 0 };
  const disagreements: Disagreement[] = [];
  for (let file = 0; file < files; file++) {
    const robots = drawFile(draw);
    const rules = readRobots(new TextEncoder().encode(robots), TOKEN, ROBOTS_URL);
    const matcher = compileRobots(rules, ROBOTS_URL);
    for (let n = 0; n < URLS_A_FILE; n++) {
      const url = ORIGIN + drawPath(draw, 'url');
      const { allowed: engine, rule } = matcher.decide(url);
      const wrapped = allowedByWrapped(rules, ROBOTS_URL, url);
      const { pathname, search } = new URL(url);
      const isEmptyQuery = search === '' && url.includes('?');
      const reference = referenceAllows(robots, TOKEN, pathname + (isEmptyQuery ? '?' : search));
      tally[engine === true ? 'allowed' : 'disallowed'] += 1;
      if (rule !== null) tally.byRule += 1;
      if (engine !== wrapped || engine !== reference) disagreements.push({ robots, url, engine, wrapped, reference });
    }
  }
  return { files, checks: files * URLS_A_FILE, ...tally, disagreements };
}

// -- drawing ----------------------------------------------------------------------------------------------------

type Draw = (below: number) => number;

/** mulberry32 */
function drawsFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/**
 * Few different ones, so that files and URLs meet often; all that has a meaning to either side is
 * among them, but for a `%` that begins no escape: of it the RFC says nothing.
 */
const OCTETS = [
  ...'aaabb//**$?&=.~-_',
  '%7E',
  '%7e',
  '%2F',
  '%2f',
  '%2A',
  '%24',
  '%61',
  '%25',
  'é',
  '%C3%A9',
  "'",
  '[',
  '|',
  '{',
];
const AGENTS = ['*', '*', 'FooBot', 'foobot', 'FooBotx', 'Bar', 'Foo'];

function drawFile(draw: Draw): string {
  const lines: string[] = [];
  if (draw(4) > 0) lines.push('User-agent: *');
  for (let line = 3 + draw(12); line > 0; line--) {
    switch (draw(8)) {
      case 0:
        lines.push(`User-agent: ${AGENTS[draw(AGENTS.length)]}`);
        break;
      case 1:
        lines.push(
          ['', '# a comment', 'Crawl-delay: 2', 'Sitemap: /map.xml', 'Disallow:', 'Allow:'][draw(6)] as string,
        );
        break;
      default:
        lines.push(
          `${draw(3) === 0 ? 'Allow' : 'Disallow'}: ${drawPath(draw, 'rule')}${draw(9) === 0 ? ' # why' : ''}`,
        );
    }
  }
  return lines.join(['\n', '\r\n', '\r'][draw(3)]);
}

function drawPath(draw: Draw, side: 'rule' | 'url'): string {
  let path = side === 'rule' && draw(8) === 0 ? '*' : '/';
  for (let length = draw(7); length > 0; length--) path += OCTETS[draw(OCTETS.length)] as string;
  return side === 'rule' && draw(5) === 0 ? `${path}$` : path;
}
