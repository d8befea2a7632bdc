/** `npm run e2e:robots`: random robots.txt files and URLs, decided in three ways that must agree. Exits with 1 where they do not. */
import { differ } from '../policy/robots/differential.js';

const SEEDS = 10;
const FILES_A_SEED = 6_000;
const sum = { files: 0, checks: 0, allowed: 0, disallowed: 0, byRule: 0, disagreements: 0 };
const first = Number(process.argv[2] ?? 1);
for (let seed = first; seed < first + SEEDS; seed++) {
  const { disagreements, ...counts } = differ(seed, FILES_A_SEED);
  for (const [name, count] of Object.entries(counts)) sum[name as keyof typeof counts] += count;
  sum.disagreements += disagreements.length;
  for (const one of disagreements.slice(0, 3)) console.log(JSON.stringify({ seed, ...one }));
}
console.log(JSON.stringify(sum));
process.exitCode = sum.disagreements === 0 && Math.min(sum.allowed, sum.disallowed) > sum.checks / 20 ? 0 : 1;
