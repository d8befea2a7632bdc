/**
 * A process of its own, in which the universes of one build are run, one after the other, until one breaks a rule.
 *
 *     node trial.mjs DIST SETTINGS FROM TO RULES
 *
 * RULES are those that end it, separated by commas, or `any`. Writes a line of JSON a universe.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, settings, from, to, rules] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(dist, path)).href);
const { runUniverse } = await load('sim/universe.js');
const { productionEngine } = await load('sim/engine.js');

/** Small universes: what a mutant does wrong it does in each of them, if the moment comes. */
const COMMON = { hosts: 5, pages: 40, eventsMax: 400_000, simulatedMsMax: 30 * 86_400_000, traceLinesKept: 0 };

for (let seed = Number(from); seed <= Number(to); seed++) {
  const { violations, events } = await runUniverse({ ...COMMON, ...JSON.parse(settings), seed }, productionEngine());
  const broken = [...new Set(violations.map(({ rule }) => rule))];
  const detail = violations.find(({ rule }) => rules === 'any' || rules.split(',').includes(rule))?.detail ?? null;
  process.stdout.write(`${JSON.stringify({ seed, broken, detail, events })}\n`);
  if (detail !== null) break;
}
// What a killed incarnation has left behind may keep the process alive.
process.exit(0);
