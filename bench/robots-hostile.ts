/**
 * What does the worst robots.txt cost? 500 KiB of hostile rules, and a URL of 2 KB.
 *
 * Read and made answerable once for each file, then asked: each answer is bounded by charge and not by the clock, so
 * that the figures vary with the machine, and the answers don't. Limit: 50 ms of CPU a check.
 *
 *     node dist-bench/bench/robots-hostile.js
 */
import { compileRobots } from '../src/policy/robots/match.js';
import { readRobots } from '../src/policy/robots/read.js';
import { ROBOTS_BYTES_MAX } from '../src/policy/robots/rules.js';

const ROBOTS_URL = 'https://a.example/robots.txt';
const CHECK_MS_MAX = 50;
const CHECKS = 20;

const repeated = (line: (index: number) => string, before = 'User-agent: *\n'): string => {
  let text = before;
  for (let index = 0; text.length < ROBOTS_BYTES_MAX; index++) text += line(index);
  return text;
};
const half = ROBOTS_BYTES_MAX / 2;

const FILES: readonly (readonly [name: string, text: string, tail: string])[] = [
  ['literal rules', repeated((i) => `Disallow: /a/path/that/is/long/${i}\n`), 'a/path/that/is/long/x'.repeat(95)],
  ['rules of 9 bytes', repeated((i) => `Allow: /${i % 10}\n`), 'a'.repeat(2_020)],
  ['named groups', repeated((i) => `User-agent: bot${i}\nDisallow: /a\nAllow: /b\nDisallow: /c\n`), 'c'.repeat(2_020)],
  ['rules with one *', repeated((i) => `Disallow: /*x${i}\n`), 'x'.repeat(2_020)],
  ['1,000 times *a a rule', repeated(() => `Disallow: /${'*a'.repeat(1_000)}b\n`), 'a'.repeat(2_020)],
  ['/*aaab…', repeated((i) => `Disallow: /*aaaab${i}\n`), 'a'.repeat(2_020)],
  ['/*(ab)…c', repeated((i) => `Disallow: /*${'ab'.repeat(8)}c${i}\n`), 'ab'.repeat(1_010)],
  ['one rule of 500 KB', `User-agent: *\nDisallow: /${'*a'.repeat(ROBOTS_BYTES_MAX / 2)}`, 'a'.repeat(2_020)],
  ['comments alone', repeated(() => '# nothing but words\n'), 'a'.repeat(2_020)],
  ['blank lines, 10 MB', '\n'.repeat(10_000_000), 'a'.repeat(2_020)],
  [
    'half agents, half rules',
    `${'User-agent: bot\n'.repeat(half / 16)}${'Disallow: /a*b\n'.repeat(half / 15)}`,
    'a'.repeat(2_020),
  ],
];

function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

let worstMs = 0;
for (const [name, text, tail] of FILES) {
  const bytes = new TextEncoder().encode(text);
  let answer = '';
  let matcher = compileRobots(readRobots(bytes.subarray(0, 0), 'bot', ROBOTS_URL), ROBOTS_URL);
  const readMs = cpuMsOf(() => {
    matcher = compileRobots(readRobots(bytes, 'bot', ROBOTS_URL), ROBOTS_URL);
  });
  let slowestMs = 0;
  for (let check = 0; check < CHECKS; check++) {
    const url = `https://a.example/${check}${tail}`;
    slowestMs = Math.max(
      slowestMs,
      cpuMsOf(() => {
        answer = String(matcher.decide(url).allowed);
      }),
    );
  }
  worstMs = Math.max(worstMs, slowestMs);
  const figures = `read ${readMs.toFixed(1).padStart(7)} ms   slowest check ${slowestMs.toFixed(3).padStart(8)} ms`;
  console.log(`${name.padEnd(26)} ${figures}   allowed: ${answer}`);
}
console.log(`worst check: ${worstMs.toFixed(1)} ms, limit ${CHECK_MS_MAX} ms`);
if (worstMs > CHECK_MS_MAX) process.exitCode = 1;
