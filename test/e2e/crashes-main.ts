/**
 * `npm run e2e:crashes`: every kind of actor, every important message, once, twice and three times. Prints a line a
 * case and exits with 1 where one of them is not as it must be. Arguments choose cases by a part of their names.
 */
import { casesOf, crawlWithCrashes, faultsIn, linesNamed, nameOf, type PlannedCrash } from './crashes.js';

const PARALLEL = 2;

const wanted = process.argv.slice(2);
const cases = [1, 2, 3]
  .flatMap(casesOf)
  .filter((crashes) => wanted.length === 0 || wanted.some((part) => crashes.map(nameOf).join().includes(part)));
let failures = 0;

async function work(queue: (readonly PlannedCrash[])[]): Promise<void> {
  for (let crashes = queue.shift(); crashes !== undefined; crashes = queue.shift()) {
    const report = await crawlWithCrashes(crashes, false, 150);
    const wrong = faultsIn(report, crashes);
    if (wrong.length > 0) failures += 1;
    const { seconds, summary } = report.crawl;
    const setAside = linesNamed(report, 'set_aside').length;
    const repeated = report.verdict.stats.pages - new Set(report.crawl.pages.map(({ url }) => url)).size;
    const name = crashes.map(nameOf).join(' ').padEnd(26);
    console.log(
      `${wrong.length === 0 ? 'ok    ' : 'FAILED'} ${name} ${seconds.toFixed(1).padStart(6)} s  ${summary.requests} requests, ${repeated} pages repeated, ${setAside} messages set aside`,
    );
    for (const line of wrong) console.log(`         ${line}`);
  }
}

await Promise.all(Array.from({ length: PARALLEL }, () => work(cases)));
console.log(`${failures} failures`);
process.exitCode = failures === 0 ? 0 : 1;
