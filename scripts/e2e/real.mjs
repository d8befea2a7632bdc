/**
 * `npm run e2e:real`: a site of 28 hosts with real documentation behind nginx, with real names, crawled whole and held
 * against what `wget --recursive` reaches; then once more with four kills in the middle. Installs what is missing, if it
 * may. Exits with 1 where anything is unexplained, repeated, impolite or lost.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const PACKAGES = ['nginx-light', 'dnsmasq-base', 'iproute2', 'wget', 'debian-handbook', 'python3.11-doc'];

const { module } = await runnerImport(fileURLToPath(new URL('../../test/e2e/real-web.ts', import.meta.url)));
const { crawlRealWeb, KILLS, whatIsMissing } = module;

if (whatIsMissing() !== null) install();
const missing = whatIsMissing();
if (missing !== null) {
  console.error(`${missing}: apt-get install --no-install-recommends ${PACKAGES.join(' ')}`);
  process.exit(1);
}

const report = await crawlRealWeb((line) => console.log(line));
for (const [name, { differences }] of passages(report)) {
  for (const { by, url, contentType, reason } of differences) {
    console.log(`${name}, ${by}: ${url} (${contentType}): ${reason ?? 'NOTHING EXPLAINS IT'}`);
  }
}
const faults = passages(report).flatMap(([name, passage]) => faultsIn(passage).map((fault) => `${name}: ${fault}`));
if (report.hosts < 28) faults.push(`${report.hosts} hosts, where 28 were meant`);
if (report.killed.kills !== KILLS) faults.push(`${report.killed.kills} kills, where ${KILLS} were meant`);
console.log({
  hosts: report.hosts,
  wget: report.wget,
  ...Object.fromEntries(passages(report).map(([name, passage]) => [name, figuresOf(passage)])),
  faults: faults.length,
});
for (const fault of faults) console.error(`FAULT ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

function passages({ undisturbed, killed }) {
  return Object.entries({ undisturbed, killed });
}

function faultsIn({ differences, repeated, doubled, verdict, archive, summary, pages }) {
  return [
    ...differences.filter(({ reason }) => reason === null).map(({ by, url }) => `unexplained, ${by}: ${url}`),
    ...repeated.map((url) => `fetched again without reason: ${url}`),
    ...doubled.map((url) => `recorded more than once: ${url}`),
    ...verdict.violations.map(({ rule, host, detail }) => `${rule} of ${host}: ${detail}`),
    ...archive.faults,
    ...(summary.reason === 'done' ? [] : [`it ended with ${summary.reason}`]),
    ...(pages > 0 ? [] : ['no page was fetched']),
  ];
}

function figuresOf({ pages, kills, repeats, summary, verdict, archive, differences, cpuSeconds }) {
  const { requests, inFlightMax, smallestGapMinusDelayMs, robotsAnswers } = verdict.stats;
  return {
    pages,
    kills,
    requests,
    repeatsAfterKills: repeats.join(' '),
    seconds: summary.durationSeconds,
    cpuMsPerFetched: Number(((cpuSeconds * 1_000) / Math.max(1, summary.fetched)).toFixed(2)),
    inFlightMax,
    smallestGapMinusDelayMs,
    robotsAnswers,
    violations: verdict.violations.length,
    archive: archive.records,
    differences: differences.length,
    unexplained: differences.filter(({ reason }) => reason === null).length,
  };
}

function install() {
  console.log(`installing ${PACKAGES.join(' ')}`);
  const sudo = process.getuid() === 0 ? [] : ['sudo', '-n'];
  for (const words of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES],
  ]) {
    const [program, ...rest] = [...sudo, 'apt-get', ...words];
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    if (spawnSync(program, rest, { stdio: 'inherit', env }).status !== 0) return;
  }
}
