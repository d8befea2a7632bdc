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
const { drawSwarm } = await load('sim/swarm.js');

/** A loop without end has so many before long; a universe of the swarm a fifth of it. */
const EVENTS_MAX = 5_000_000;

const { mode, ...fixed } = JSON.parse(settings);

/** Drawn like those of the swarm, in both modes by turns, but for what the mutant's head fixes. */
function settingsOf(seed) {
  const drawn = drawSwarm(seed, mode ?? (seed % 2 === 1 ? 'liveness' : 'safety'));
  return { ...drawn, eventsMax: EVENTS_MAX, traceLinesKept: 0, ...fixed, seed };
}

for (let seed = Number(from); seed <= Number(to); seed++) {
  const { violations, events } = await runUniverse(settingsOf(seed), productionEngine());
  const broken = [...new Set(violations.map(({ rule }) => rule))];
  const detail = violations.find(({ rule }) => rules === 'any' || rules.split(',').includes(rule))?.detail ?? null;
  process.stdout.write(`${JSON.stringify({ seed, broken, detail, events })}\n`);
  if (detail !== null) break;
}
// What a killed incarnation has left behind may keep the process alive.
process.exit(0);
