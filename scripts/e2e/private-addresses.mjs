/**
 * `npm run e2e:private-addresses`: every spelling of a private address, by link, by redirect and by DNS answer, with
 * strace as witness of what the crawl connected to. Exits with 1 where anything was connected to that must not be, or
 * anything was refused without a reason.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('../../test/e2e/private-addresses.ts', import.meta.url)));
const { lastCode, NO_URLS, temptCrawl, temptCrawlThatMay, whatIsMissing } = module;

const missing = whatIsMissing();
if (missing !== null) {
  console.error(`${missing}: apt-get install strace dnsmasq-base`);
  process.exit(1);
}

const report = await temptCrawl();
const control = await temptCrawlThatMay();

const allowed = new Set([report.site, report.nameServer]);
const faults = [
  ...[...report.connected.keys()].filter((peer) => !allowed.has(peer)).map((peer) => `connected to ${peer}`),
  ...[...allowed].filter((peer) => !report.connected.has(peer)).map((peer) => `never connected to ${peer}`),
  ...(report.victims > 0 ? [`${report.victims} connections to what must not be reached`] : []),
  ...report.refusals
    .filter(({ record }) => lastCode(record) !== 'guard_refused')
    .map(({ by, url, record }) => `${by} ${url}: ${record?.state ?? 'unknown'}, ${lastCode(record)}`),
  ...Object.entries(report.noUrls)
    .filter(([url, code]) => code !== NO_URLS[url])
    .map(([url, code]) => `${url}: ${code}`),
  ...report.deadEnds
    .filter(({ record }) => lastCode(record) !== 'redirect_without_target')
    .map(({ url, record }) => `${url}: ${lastCode(record)}`),
  ...(report.rebinding.fetched > 0 && report.rebinding.refused > 0 ? [] : ['the name did not rebind']),
  ...(control.victims > 0 ? [] : ['a crawl that may connect was not seen to do so']),
];
const counted = {};
for (const { by } of report.refusals) counted[by] = (counted[by] ?? 0) + 1;
console.log({
  refused: counted,
  noUrls: Object.keys(report.noUrls).length,
  rebinding: report.rebinding,
  connected: Object.fromEntries(report.connected),
  summary: { refused: report.summary.refused, requests: report.summary.requests, reason: report.summary.reason },
  seconds: report.summary.durationSeconds,
  control: Object.fromEntries(control.connected),
  faults: faults.length,
});
for (const fault of faults) console.error(`FAULT ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;
