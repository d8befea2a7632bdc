/**
 * `npm run e2e:polite`: politeness on 1,000 hosts that ask for patience, as tables: a crawl that is left alone, and one
 * that the server kills again and again. Exits with 1 where a rule was broken, a page is missing, or no kill fell.
 * `npm run e2e:polite -- HOSTS PAGES KILLS SEED` chooses another size.
 */
import { measurePoliteness, pagesWrong, type PolitenessReport, politenessTable } from './politeness.js';

const PROBLEMS_SHOWN = 40;

const [hosts = 1_000, pages = 6_000, times = 12, seed = 8] = process.argv.slice(2).map(Number);
const settings = { hosts, pages, seed, secondsMax: 600 };

function problemsOf(report: PolitenessReport, kills: number): string[] {
  const { crawl, verdict, stats } = report;
  return [
    ...verdict.violations.map(({ rule, host, detail }) => `${rule} ${host}: ${detail}`),
    ...pagesWrong(report),
    ...(crawl.exitCode === 0 && crawl.summary.reason === 'done' ? [] : [`the crawl ended ${crawl.summary.reason}`]),
    ...(stats.kills === kills ? [] : [`${stats.kills} of ${kills} kills fell`]),
  ];
}

async function show(name: string, kills: number): Promise<number> {
  const requestsMax = Math.max(1, Math.floor((hosts + pages) / (kills + 1)));
  const report = await measurePoliteness({
    ...settings,
    ...(kills === 0 ? {} : { kills: { times: kills, requestsMax } }),
  });
  console.log(`== ${name}\n${politenessTable(report)}`);
  const problems = problemsOf(report, kills);
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) console.log(`PROBLEM ${problem}`);
  return problems.length;
}

let problems = await show('left alone', 0);
if (times > 0) problems += await show(`killed ${times} times by the server`, times);
process.exitCode = problems === 0 ? 0 : 1;
