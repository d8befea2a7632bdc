/**
 * A failing universe as a short story: what the world was, what befell the crawl, what it did wrong, and what the
 * server saw just then. For whoever reads it before the code: no event numbers, no dumps.
 */
import type { Moment, UniverseResult, UniverseViolation } from './universe.js';
import type { WitnessEvent } from '../practice/witness.js';

/** More violations than this are mostly the first one over again. */
const VIOLATIONS_TOLD_MAX = 5;
const MOMENTS_TOLD_MAX = 30;
/** Of the server's log, before and after a violation. */
const LINES_BEFORE = 8;
const LINES_AFTER = 3;
const TRACE_LINES_TOLD = 15;

/** Several lines of plain text, the last one with its end. */
export function tellStory(result: UniverseResult): string {
  const paragraphs = [tellWorld(result), tellLives(result.evidence.moments), tellViolations(result), tellEnd(result)];
  return `${paragraphs.flat().join('\n')}\n`;
}

function tellWorld({ seed, evidence, pagesExpected }: UniverseResult): string[] {
  const { landscape, settings } = evidence;
  return [
    `Universe ${seed}: ${count(landscape.hosts.size, 'host')}, ${count(landscape.pages.size, 'page')}, of which ${pagesExpected} can be had and must be.`,
    `The crawl begins at ${landscape.seeds.join(', ')} and waits ${settings.delayMs} ms between requests of a host.`,
  ];
}

function tellLives(moments: readonly Moment[]): string[] {
  const told = moments
    .slice(0, MOMENTS_TOLD_MAX)
    .map(({ atMs, owner, what }) => `  ${clock(atMs)}  life ${owner}: ${what}`);
  const left = moments.length - told.length;
  return ['', 'What befell it:', ...told, ...(left > 0 ? [`  … and ${left} more`] : [])];
}

function tellViolations({ violations, evidence }: UniverseResult): string[] {
  if (violations.length === 0) return ['', 'It did nothing wrong.'];
  const told = violations
    .slice(0, VIOLATIONS_TOLD_MAX)
    .flatMap((violation, index) => tellViolation(index + 1, violation, evidence));
  const left = violations.length - VIOLATIONS_TOLD_MAX;
  return ['', 'What it did wrong:', ...told, ...(left > 0 ? ['', `  … and ${left} more: ${tally(violations)}`] : [])];
}

function tellViolation(number: number, violation: UniverseViolation, evidence: UniverseResult['evidence']): string[] {
  const { rule, host, atMs, detail } = violation;
  const lines = [
    '',
    `  ${number}. ${rule}${host === null ? '' : ` at ${host}`}, ${atMs === null ? 'at the end' : clock(atMs)}: ${detail}`,
  ];
  if (host === null || atMs === null) return lines;
  return [...lines, ...tellServer(host, atMs, evidence.log)];
}

/** The host's own view, and the kills and boots between. */
function tellServer(host: string, atMs: number, log: readonly WitnessEvent[]): string[] {
  const starts = new Map(log.flatMap((line) => (line.e === 'S' && line.h === host ? [[line.i, line]] : [])));
  const seen = log.filter((line) => isSeenBy(host, line, starts));
  const before = seen.filter(({ t }) => t <= atMs).slice(-LINES_BEFORE);
  const after = seen.filter(({ t }) => t > atMs).slice(0, LINES_AFTER);
  const tell = (line: WitnessEvent): string => `       ${clock(line.t)}  ${tellLine(line, starts)}`;
  return [`     What ${host} saw:`, ...before.map(tell), '       ---', ...after.map(tell)];
}

function isSeenBy(host: string, line: WitnessEvent, starts: ReadonlyMap<number, unknown>): boolean {
  if (line.e === 'S' || line.e === 'E') return starts.has(line.i);
  return line.e !== 'C' || line.h === null || line.h === host;
}

function tellLine(line: WitnessEvent, starts: ReadonlyMap<number, Extract<WitnessEvent, { e: 'S' }>>): string {
  switch (line.e) {
    case 'K':
      return 'the crawl is killed';
    case 'B':
      return 'the crawl is started';
    case 'X':
      return `nothing gets through between crawl and web until ${clock(line.until)}`;
    case 'C':
      return line.h === null ? 'a worker of the crawl crashes' : "the crawl's actor for this host crashes";
    case 'S':
      return `${line.u} is asked for (request ${line.i})`;
    case 'E':
      return `${starts.get(line.i)?.u ?? ''} ${tellEnding(line)} (request ${line.i})`;
  }
}

function tellEnding(line: Extract<WitnessEvent, { e: 'E' }>): string {
  if (line.how === 'abort') return 'is given up by the client';
  if (line.how === 'reset') return `breaks off${line.s === null ? '' : ` after status ${line.s}`}`;
  const retryAfter = line.ra === undefined ? '' : `, to come back after ${line.ra} s`;
  return `is answered with ${line.s}${retryAfter}`;
}

function tellEnd(result: UniverseResult): string[] {
  const { requests, pages, pagesExpected, simulatedSeconds, traceHash, faults, kills, violations, evidence } = result;
  const stalled = violations.some(({ rule }) => rule.startsWith('simulation_'));
  return [
    '',
    `After ${simulatedSeconds} s it had made ${count(requests, 'request')}, had ${pages} of ${pagesExpected} pages, and had met ${count(faults, 'fault')} and ${count(kills, 'kill')}. Trace ${traceHash}.`,
    ...(stalled
      ? ['The last that happened:', ...evidence.trace.slice(-TRACE_LINES_TOLD).map((line) => `  ${line}`)]
      : []),
    `To see it again: sim --universe '${JSON.stringify(evidence.settings)}'`,
  ];
}

function tally(violations: readonly UniverseViolation[]): string {
  const counts = new Map<string, number>();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].map(([rule, times]) => `${rule} × ${times}`).join(', ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function clock(atMs: number): string {
  return `${(atMs / 1_000).toFixed(3)} s`;
}
