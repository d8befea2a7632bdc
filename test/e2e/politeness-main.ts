/** `npm run e2e:polite`: politeness on 200 hosts with mixed delays, as a table. Exits with 1 where a rule was broken. */
import { measurePoliteness, politenessTable } from './politeness.js';

const report = await measurePoliteness({ hosts: 200, pages: 3_000, seed: 7, secondsMax: 300 });
console.log(politenessTable(report));
for (const { rule, host, detail } of report.verdict.violations) console.log(`${rule} ${host}: ${detail}`);
process.exitCode = report.verdict.violations.length === 0 && report.crawl.exitCode === 0 ? 0 : 1;
