/**
 * `npm run e2e:clocks`: a crawl that is stopped and goes on, one whose wall clock is put by an hour while it runs, and one
 * that is started again under another clock. Prints their figures; exits with 1 where a rule was broken, a page is missing,
 * or a disturbance did not come about. Arguments choose by a part of their names.
 */
import { clocksTable, clocksWrong, crawlByBentClock, type Disturbance, whyNoFakeTime } from './clocks.js';

const HOUR = 3_600;
const SETTINGS = { hosts: 240, pages: 1_440, seed: 8, secondsMax: 400 };

const stop = (ms: number): Disturbance => ({ what: 'stop', ms });
const step = (seconds: number): Disturbance => ({ what: 'step', seconds });
const restart = (by: 'SIGKILL' | 'SIGINT', seconds: number): Disturbance => ({ what: 'restart', by, seconds });

const TRIALS: Readonly<Record<string, readonly Disturbance[]>> = {
  'stopped and going on': [stop(1_500), stop(1_500), stop(20_000), stop(1_500), stop(20_000)],
  'the clock put while it runs': [step(HOUR), step(-HOUR), step(-HOUR), step(HOUR), step(20 * HOUR), step(-20 * HOUR)],
  'the clock put between two lives': [
    ...[restart('SIGINT', HOUR), restart('SIGINT', HOUR), restart('SIGKILL', HOUR), restart('SIGINT', -HOUR)],
    ...[restart('SIGKILL', -HOUR), restart('SIGINT', 3 * HOUR), restart('SIGINT', -HOUR), restart('SIGKILL', 2 * HOUR)],
  ],
  'all of it': [
    ...[step(HOUR), stop(1_500), restart('SIGKILL', HOUR), step(-HOUR), stop(1_500)],
    ...[restart('SIGINT', -HOUR), stop(20_000), step(HOUR), restart('SIGKILL', -2 * HOUR), stop(1_500)],
  ],
};

const wanted = process.argv.slice(2);
const missing = whyNoFakeTime();
let failures = 0;

if (missing !== null) {
  console.error(missing);
  failures += 1;
} else {
  for (const [name, disturbances] of Object.entries(TRIALS)) {
    if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
    const report = await crawlByBentClock(SETTINGS, disturbances);
    const wrong = clocksWrong(report, disturbances);
    failures += Number(wrong.length > 0);
    console.log(`== ${name}\n${clocksTable(report)}`);
    for (const line of wrong.slice(0, 40)) console.log(`PROBLEM ${line}`);
  }
}
process.exitCode = failures === 0 ? 0 : 1;
