/**
 * The titles of a site, one a line.
 *
 *     node examples/titles.mjs https://example.org/ 'TitleBot/1.0 (+https://bot.example/)'
 *
 * The loop is as slow as it likes: while it is behind, no request begins. Leaving it after enough pages stops nothing by
 * itself, so the crawler is told to.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrawler } from 'orbweaver';

const [site, userAgent = 'TitleBot/1.0', wanted = '20'] = process.argv.slice(2);
const dataDir = await mkdtemp(join(tmpdir(), 'titles-'));

const isHere = new URL(site).hostname === '127.0.0.1';
const crawler = createCrawler({
  dataDir,
  seeds: [site],
  // A site on this machine is asked as fast as it answers; any other one once a second, which is what goes without saying.
  config: isHere
    ? { userAgent, guard: { allow: ['127.0.0.0/8'] }, politeness: { delayMs: 0, adaptiveFactor: 0, addressDelayMs: 0 } }
    : { userAgent },
});

let pages = 0;
for await (const { url, title } of crawler) {
  console.log(`${title ?? '(no title)'}\t${url}`);
  pages += 1;
  if (pages >= Number(wanted)) break;
}
const summary = await crawler.stop();
console.log(`${pages} titles, ${summary?.requests} requests`);
await rm(dataDir, { recursive: true });
