/**
 * `npm run e2e:real-site`: whole documentation packages behind nginx, crawled by `npm start -- URL…` and held against
 * `wget --recursive`. Takes those that are installed of debian-handbook, python3.11-doc and postgresql-doc-15; names of
 * packages as arguments choose. Exits with 1 where anything is wrong.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('../../test/e2e/real-site.ts', import.meta.url)));
const { crawlRealSites, DOCUMENTATION, whatIsMissing } = module;

const chosen = process.argv.slice(2);
const names = chosen.length > 0 ? chosen : Object.keys(DOCUMENTATION).filter((name) => whatIsMissing([name]) === null);
const missing = names.length === 0 ? whatIsMissing(Object.keys(DOCUMENTATION)) : whatIsMissing(names);
if (missing !== null) {
  console.error(`${missing}: apt-get install nginx-light wget ${Object.keys(DOCUMENTATION).join(' ')}`);
  process.exit(1);
}

const report = await crawlRealSites(names, ['npm', 'start', '--silent', '--']);
for (const { by, url, contentType, reason } of report.differences) {
  console.log(`${by}: ${url} (${contentType}): ${reason ?? 'NO REASON IS KNOWN'}`);
}
const { stats, violations } = report.verdict;
const faults = [
  ...report.differences.filter(({ reason }) => reason === null).map(({ by, url }) => `${by}: ${url}`),
  ...report.repeated.map((url) => `fetched more than once: ${url}`),
  ...violations.map(({ rule, host, detail }) => `${rule} of ${host}: ${detail}`),
  ...report.archive.faults,
  ...report.altered,
];
console.log({
  sites: names,
  pagesOfWget: report.pagesOfWget,
  pagesOfCrawl: report.pagesOfCrawl,
  requests: stats.requests,
  seconds: report.summary.durationSeconds,
  reason: report.summary.reason,
  blockedByRobots: report.summary.blockedByRobots,
  smallestGapMinusDelayMs: stats.smallestGapMinusDelayMs,
  violations: violations.length,
  archive: report.archive.records,
  faults: faults.length,
});
for (const fault of faults) console.error(`FAULT ${fault}`);
process.exitCode = faults.length === 0 && report.pagesOfWget > 0 ? 0 : 1;
