/**
 * `npm run e2e:sidecar [-- VISITS]`: 200 visits of which every tenth hangs, with a browser that is killed twice on the
 * way; then the sidecar itself is killed. Prints what came of them and what is left; exits 1 where anything is left, or
 * a visit that could be had was not.
 */
import { readFileSync } from 'node:fs';
import {
  browserProcesses,
  CHROMIUM,
  folders,
  signalBrowser,
  leavesNothing,
  openOddSite,
  startSidecar,
} from './sidecar.js';

const [visits = 200] = process.argv.slice(2).map(Number);
const HANG_EVERY = 10;
const AT_ONCE = 2;
const TIMEOUT_MS = 3_000;

if (CHROMIUM === null) throw new Error('no Chromium is installed');
const site = await openOddSite();
const sidecar = await startSidecar();
const counts = { rendered: 0, hung: 0, again: 0 };
const problems: string[] = [];
const memory: number[] = [];
const beganAt = performance.now();

let next = 0;
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let n = next++; n < visits; n = next++) await one(n);
  }),
);
const seconds = (performance.now() - beganAt) / 1_000;
const health = await sidecar.health();
const busy = { processes: browserProcesses(sidecar).length, folders: folders(sidecar).length };
await sidecar.end('SIGKILL');
await leavesNothing(sidecar).catch((error: unknown) => problems.push(String(error)));
site.close();

async function one(n: number): Promise<void> {
  const hangs = n % HANG_EVERY === HANG_EVERY - 1;
  if (n === Math.floor(visits / 3) || n === Math.floor((2 * visits) / 3)) signalBrowser(sidecar, 'SIGKILL');
  const url = `http://site.test:${site.port}${hangs ? (n % 20 === 9 ? '/hang' : '/hang-later') : '/script'}`;
  // As a crawl does: what the service failed on is asked for again.
  for (let attempt = 1; attempt <= 3; attempt++) {
    const { status, message } = await sidecar.ask({
      cmd: 'request.get',
      url,
      maxTimeout: TIMEOUT_MS * (hangs ? 1 : 5),
    });
    if (status === 'ok') {
      counts.rendered += 1;
      break;
    }
    if (hangs && message.includes('[timeout]')) {
      counts.hung += 1;
      break;
    }
    if (attempt === 3) problems.push(`visit ${n} of ${url}: ${message}`);
    else counts.again += 1;
  }
  if (n % 20 === 0) memory.push((await sidecar.health()).memoryBytes, rssOf(sidecar.pid));
}

function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024;
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)}`;
const browserMemory = memory.filter((_, i) => i % 2 === 0).map(megabytes);
const ownMemory = memory.filter((_, i) => i % 2 === 1).map(megabytes);
console.log(
  `${visits} visits in ${seconds.toFixed(1)} s, ${AT_ONCE} at once: ${counts.rendered} rendered, ${counts.hung} hung and were ended, ${counts.again} asked for again`,
);
console.log(
  `browsers started: ${health.starts}; before the end ${busy.processes} processes and ${busy.folders} folder`,
);
console.log(`memory of the browser, MiB, each 20 visits: ${browserMemory.join(' ')}`);
console.log(`memory of the sidecar, MiB: ${ownMemory.join(' ')}`);
console.log(
  `after kill -9 of the sidecar: ${browserProcesses(sidecar).length} processes, ${folders(sidecar).length} folders`,
);
const hanging = Math.floor(visits / HANG_EVERY);
if (counts.hung !== hanging) problems.push(`${counts.hung} hung, not ${hanging}`);
if (counts.rendered !== visits - hanging) problems.push(`${counts.rendered} were rendered, not ${visits - hanging}`);
for (const problem of problems) console.log(`WRONG: ${problem}`);
console.log(problems.length === 0 ? 'nothing is left, nothing was lost' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
