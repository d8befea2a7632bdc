/**
 * Crawls a JSON API by the links in its documents, leaves what it has no use for, stops in the middle and goes on.
 *
 *     node examples/json-links.mjs http://127.0.0.1:8080/index.json
 *
 * The handler of the content type is a module of its own, as it runs in the threads that read pages.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrawler } from 'orbweaver';

const [index] = process.argv.slice(2);
const dataDir = await mkdtemp(join(tmpdir(), 'json-links-'));

const crawler = createCrawler({
  dataDir,
  seeds: [index],
  config: {
    userAgent: 'JsonBot/1.0',
    guard: { allow: ['127.0.0.0/8'] },
    politeness: { delayMs: 0, adaptiveFactor: 0, addressDelayMs: 0 },
  },
  want: {},
  contentHandlers: [{ module: new URL('./json-content.mjs', import.meta.url), options: { listField: 'items' } }],
  urlFilter: ({ url }) => (url.includes('/drafts/') ? 'a draft' : true),
  onPage: ({ url, title, data }) => console.log(`page ${new URL(url).pathname} "${title}" ${JSON.stringify(data)}`),
});

crawler.on('visit', ({ outcome, code }) => outcome !== 'fetched' && console.log(`visit ${outcome} [${code}]`));
crawler.on('error', ({ code, message }) => console.log(`error [${code}] ${message}`));

await crawler.start();
const first = await new Promise((resolve) => crawler.on('page', resolve));
await crawler.stop();
console.log(`stopped after ${new URL(first.url).pathname}, ${(await crawler.status()).queued} queued`);

await crawler.start();
const { fetched, reason } = await crawler.ended;
console.log(`then ${fetched} more: ${reason}`);

const draft = new URL('/drafts/1.json', index).href;
console.log((await crawler.why(draft)).explanation[0]);
await rm(dataDir, { recursive: true });
