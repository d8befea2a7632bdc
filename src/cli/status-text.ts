/** Status, hosts and one host as people read them. Times are told relative to now: how long ago, how soon. */
import {
  type BrowserReport,
  type HostReport,
  type HostRow,
  type ProbeReport,
  type RetriesReport,
  type StatusReport,
  WAIT_CAUSES,
  type WaitCause,
} from '../admin/control.js';
import { CODES } from '../domain/outcome.js';
import { ROBOTS_BYTES_MAX } from '../policy/robots/rules.js';
import { count, quantity } from './progress.js';
import { duration } from './summary.js';
import { formatPairs, formatTable } from './table.js';

const STATES: Readonly<Record<StatusReport['state'], string>> = {
  running: 'running',
  paused: 'paused: no request begins until `resume`',
  held: 'held: no request begins until the reason has gone',
  draining: 'ending: visits that are open end first',
  idle: 'idle: nothing is due; it waits for seeds and for what falls due',
  stopped: 'stopped: no process runs it',
};

export function formatStatus(report: StatusReport, nowMs: number): string[] {
  const { run, hosts } = report;
  const since = report.since === null ? '' : `, for ${ago(report.since, nowMs)}`;
  const pairs: [string, string][] = [
    ['state', `${STATES[report.state]}${since}`],
    ...report.reasons.map((reason): [string, string] => ['reason', reason]),
    ...(report.probing === null ? [] : [['probe', probeText(report.probing, nowMs)] as [string, string]]),
  ];
  if (run !== null) {
    pairs.push(
      ['pages', `${count(run.pages)} in this run, ${run.rate} a second of late`],
      ['requests', `${count(run.requests)}${run.failed > 0 ? `, ${count(run.failed)} failed` : ''}`],
    );
  }
  pairs.push(
    [
      'hosts',
      `${count(hosts.known)} known: ${count(hosts.active)} at work, ${count(hosts.ready)} with URLs ready, ${count(hosts.waiting)} with URLs for later`,
    ],
    ['queued', `${count(report.queued)} ready, ${count(report.waiting)} waiting, ${count(report.parked)} parked`],
    ['given up', quantity(report.dead, 'dead letter')],
    ['discovered', `${quantity(report.discovered, 'URL')}, ${quantity(report.archivedPages, 'page')} kept`],
  );
  if (report.etaSeconds !== null) pairs.push(['to go', toGo(report.etaSeconds)]);
  if (run !== null) {
    pairs.push([
      'process',
      `${run.pid}, ${mebibytes(run.memory.rssBytes)} in memory, ${count(run.openVisits ?? 0)} visits open`,
    ]);
  }
  if (run?.retries != null) pairs.push(['retries', retriesText(run.retries, nowMs)]);
  if (run?.browser != null) pairs.push(['browsers', browsersText(run.browser, nowMs)]);
  pairs.push(['data', report.dataDir]);
  return [...formatPairs(pairs), ...waitingLines(report)];
}

/** B5: one host at a time, until one is reached. */
function probeText({ host, nextAt, failed }: ProbeReport, nowMs: number): string {
  const sofar = failed === 0 ? 'none so far' : `${quantity(failed, 'host')} so far, not reached`;
  if (host !== null) return `${host} is asked, to see whether it can be reached (${sofar})`;
  return `one host is asked ${nextAt === null ? 'soon' : soon(nextAt, nowMs)}, to see whether it can be reached (${sofar})`;
}

/** R1: what is left of a budget. */
function retriesText({ left, nextAt }: RetriesReport, nowMs: number): string {
  return nextAt === null
    ? `${count(left)} may be made at once`
    : `the budget is used up: the next ${soon(nextAt, nowMs)}`;
}

const BREAKER_WORDS: Readonly<Record<BrowserReport['breaker'], string>> = {
  off: 'its breaker is off',
  closed: 'well',
  open: 'given a rest',
  probing: 'one page finds out whether it is back',
};

function browsersText({ breaker, restsUntil, failures, slots, slotsFree, hostsInLine }: BrowserReport, nowMs: number) {
  const until = restsUntil === null ? '' : `, asked again ${soon(restsUntil, nowMs)}`;
  const use = `${slots - slotsFree} of ${slots} in use, ${quantity(hostsInLine, 'host')} in line`;
  return `${BREAKER_WORDS[breaker]}${until}; ${use}${failures > 0 ? `, ${quantity(failures, 'failure')} so far` : ''}`;
}

function waitingLines({ waitingWhy, hostsExamined }: StatusReport): string[] {
  const causes = Object.entries(waitingWhy) as [WaitCause, number][];
  if (causes.length === 0) return [];
  const width = Math.max(...causes.map(([cause]) => cause.length));
  return [
    `Why hosts with work are not being asked right now (${count(hostsExamined)} looked at):`,
    ...causes.map(([cause, hosts]) => `  ${cause.padEnd(width)}  ${quantity(hosts, 'host')}: ${WAIT_CAUSES[cause]}`),
  ];
}

export function formatHosts(rows: readonly HostRow[], nowMs: number): string[] {
  if (rows.length === 0) return ['No host is in that state.'];
  const right = (title: string) => ({ title, align: 'right' }) as const;
  const left = (title: string) => ({ title, align: 'left' }) as const;
  return formatTable(
    [
      left('host'),
      right('ready'),
      right('waiting'),
      right('parked'),
      right('delay'),
      left('breaker'),
      left('robots'),
      left('waits for'),
    ],
    rows.map((row) => [
      row.name,
      count(row.queued.ready),
      count(row.queued.waiting),
      count(row.queued.parked),
      seconds(row.delayMs),
      row.breaker,
      row.robots,
      waitsFor(row, nowMs),
    ]),
  );
}

function waitsFor({ waits }: HostRow, nowMs: number): string {
  if (waits === null) return '';
  return waits.until === null ? waits.why : `${waits.why}, ${soon(waits.until, nowMs)}`;
}

export function formatHost(report: HostReport, nowMs: number): string[] {
  const { queued, waits, delay } = report;
  const pairs: [string, string][] = [
    ['queued', `${count(queued.ready)} ready, ${count(queued.waiting)} waiting, ${count(queued.parked)} parked`],
    [
      'waits for',
      waits === null
        ? 'nothing: nothing is queued'
        : `${WAIT_CAUSES[waits.why]}${waits.until === null ? '' : `, ${soon(waits.until, nowMs)}`} [${waits.why}]`,
    ],
    ['clock', clockText(report, nowMs)],
    ['delay', `${seconds(report.delayMs)}: the longest of ${delayParts(delay)}`],
    ['gate', gateText(report, nowMs)],
    ['breaker', breakerText(report, nowMs)],
    [
      'silence',
      report.throttle.closedUntil === null
        ? 'it asked for none'
        : `it asked for it: it may be asked again ${soon(report.throttle.closedUntil, nowMs)} (${inARow(report.throttle.consecutive)})`,
    ],
    ...(report.retries === null ? [] : [['retries', retriesText(report.retries, nowMs)] as [string, string]]),
    [
      'requests',
      `${count(report.requests)}${report.lastDurationMs === null ? '' : `, the last took ${report.lastDurationMs} ms`}`,
    ],
    ['site', report.site],
  ];
  return [report.name, ...formatPairs(pairs), ...originLines(report, nowMs), ...nextLines(report, nowMs)];
}

/** What its own clock says; what else may keep it stands above. */
function clockText({ nextAllowedAt, gate, waits }: HostReport, nowMs: number): string {
  if (gate?.phase === 'in_flight' || gate?.phase === 'judging')
    return 'it starts when the request that is under way ends';
  if (nextAllowedAt !== null) return `it opens ${soon(nextAllowedAt, nowMs)}`;
  return waits === null ? 'open' : 'open: nothing of it keeps the host';
}

/** `1 such answer`, `3 such answers in a row`. */
function inARow(answers: number): string {
  return answers === 1 ? '1 such answer' : `${count(answers)} such answers in a row`;
}

function delayParts({ configuredMs, crawlDelaySeconds, adaptiveMs }: HostReport['delay']): string {
  return [
    `${seconds(configuredMs)} as configured`,
    crawlDelaySeconds === null ? 'no Crawl-delay' : `Crawl-delay ${crawlDelaySeconds} s`,
    adaptiveMs === null ? 'no answer yet to measure' : `${seconds(adaptiveMs)} by its last answer`,
  ].join(', ');
}

function gateText({ gate }: HostReport, nowMs: number): string {
  if (gate === null) return 'none: it is not at work';
  const flight = gate.inFlightSince === null ? '' : `, a request for ${ago(gate.inFlightSince, nowMs)}`;
  const address =
    gate.address === null ? '' : `; address ${gate.address.name}${gate.address.inFlight ? ', being asked' : ''}`;
  return `${gate.phase.replace('_', ' ')}${flight}${address}`;
}

function breakerText({ breakerState }: HostReport, nowMs: number): string {
  switch (breakerState.phase) {
    case 'closed':
      if (breakerState.failures === 0) return 'closed: it is asked as usual';
      return `closed: it is asked as usual, after ${quantity(breakerState.failures, 'failure')}${breakerState.failures === 1 ? '' : ' in a row'}`;
    case 'open':
      return `open: it is left alone, and asked once ${soon(breakerState.until, nowMs)} (${quantity(breakerState.openings, 'opening')})`;
    case 'half_open':
      return 'half open: one request shows whether it is back';
  }
}

const REMARKS: Readonly<Record<NonNullable<HostReport['origins'][number]['remark']>, string>> = {
  cut: `it is longer than is read: what comes after ${count(ROBOTS_BYTES_MAX)} bytes does not count`,
  markup: 'it is an HTML page, which disallows nothing',
};

function originLines({ origins }: HostReport, nowMs: number): string[] {
  if (origins.length === 0) return ['robots.txt: not read yet'];
  return origins.map((one) => {
    const name = `robots.txt of ${one.origin}:`;
    const copy =
      one.fetchedAt === null
        ? 'no copy'
        : `status ${one.status}, ${quantity(one.rules ?? 0, 'rule')}${one.crawlDelaySeconds === null ? '' : `, Crawl-delay ${one.crawlDelaySeconds} s`}, read ${duration(one.ageSeconds ?? 0)} ago${one.remark === null ? '' : `; ${REMARKS[one.remark]}`}`;
    if (one.state !== 'unreachable') return `${name} ${copy}`;
    const cause =
      one.cause === null ? '' : ` (${typeof one.cause === 'number' ? `HTTP ${one.cause}` : CODES[one.cause]})`;
    return `${name} unreadable${cause}, ${quantity(one.attempts, 'attempt')}, asked again ${one.retryAt === null ? 'soon' : soon(one.retryAt, nowMs)}; ${copy}`;
  });
}

function nextLines({ next }: HostReport, nowMs: number): string[] {
  if (next.length === 0) return [];
  return [
    'First in its queue:',
    ...next.map(({ url, queue, priority, dueAt, lastCode }) => {
      const place = queue === 'ready' ? `class ${priority}` : dueAt === null ? 'parked' : soon(dueAt, nowMs);
      const last = lastCode === null || lastCode === 'ok' ? '' : `  [${lastCode}: ${CODES[lastCode]}]`;
      return `  ${queue.padEnd(7)}  ${place.padEnd(10)}  ${url}${last}`;
    }),
  ];
}

export function toGo(etaSeconds: number): string {
  return etaSeconds === 0
    ? 'nothing is queued'
    : `about ${duration(etaSeconds)} for what is queued now; new links come on top`;
}

function ago(time: string, nowMs: number): string {
  return duration(Math.max(0, nowMs - Date.parse(time)) / 1_000);
}

function soon(time: string, nowMs: number): string {
  const ms = Date.parse(time) - nowMs;
  return ms < 100 ? 'now' : `in ${duration(ms / 1_000)}`;
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
}

function mebibytes(bytes: number): string {
  return `${count(bytes / 1_048_576)} MiB`;
}
