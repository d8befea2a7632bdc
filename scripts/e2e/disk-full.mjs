/**
 * `npm run e2e:disk-full`: a crawl whose disk is full, then read-only, then has room again, and a kill -9 after that;
 * and one whose syncs fail (D3, D7). Exits with 1 where it asked while it was held, or anything was lost or doubled.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('../../test/e2e/disk-full.ts', import.meta.url)));
const { crawlOnSmallDisk, crawlWithFailingSyncs, whatIsMissing } = module;

const missing = whatIsMissing();
if (missing !== null) {
  console.error(missing);
  process.exit(1);
}

const small = await crawlOnSmallDisk();
const failing = await crawlWithFailingSyncs();

const faults = [
  ...(small.requestsWhileHeld === 0 ? [] : [`${small.requestsWhileHeld} requests while it was held`]),
  ...(small.reasons.full.join().includes('store_full') ? [] : ['it did not say that the disk was full']),
  ...(small.reasons.readOnly.join().includes('store_read_only') ? [] : ['it did not say that the disk was read-only']),
  ...(small.samePid ? [] : ['another process went on']),
  ...(failing.injected > 0 ? [] : ['no sync failed']),
  ...faultsIn('small disk', small.result),
  ...faultsIn('failing syncs', failing.result),
];
console.log({
  smallDisk: { ...small, result: figuresOf(small.result) },
  failingSyncs: { ...failing, result: figuresOf(failing.result) },
  faults: faults.length,
});
for (const fault of faults) console.error(`FAULT ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

function faultsIn(what, { missing: lacking, surplus, doubled, archivedTwice, archive, verdict, summary }) {
  return [
    ...lacking.map((url) => `${what}: lost ${url}`),
    ...surplus.map((url) => `${what}: not in the truth: ${url}`),
    ...doubled.map((url) => `${what}: twice in pages.jsonl: ${url}`),
    ...archivedTwice.map((url) => `${what}: twice in the archive: ${url}`),
    ...archive.faults.map((fault) => `${what}: ${fault}`),
    ...verdict.violations.map(({ rule, host, detail }) => `${what}: ${rule} of ${host}: ${detail}`),
    ...(summary.reason === 'done' ? [] : [`${what}: ended with ${summary.reason}`]),
  ];
}

function figuresOf({ pages, archive, verdict, summary }) {
  const { requests, smallestGapMinusDelayMs, repeatsExcused, kills } = verdict.stats;
  const { reason, durationSeconds } = summary;
  return {
    pages,
    archive: archive.records,
    requests,
    smallestGapMinusDelayMs,
    repeatsExcused,
    kills,
    reason,
    durationSeconds,
  };
}
