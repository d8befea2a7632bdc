/**
 * Is the simulation sharp? Faults are planted in the source, one at a time (`test/simulation/mutants/*.patch`), and the
 * checker that is named beside each must find it within so many universes; the source as it is must be found without
 * fault in the same ones. Prints a row a mutant; the last line is `N of N found`, and the exit code 0 only then.
 *
 *     npm run sim:mutants -- [NAME…] [--jobs N] [--seeds-max N] [--check: only heads, and whether patches apply]
 *
 * NAME is a mutant's, or the beginning of one. A mutant that is argued to be equivalent counts as found if it is not.
 */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readMutants } from './mutants/patch.mjs';
import { openWorkshop } from './mutants/workshop.mjs';

const OPTIONS = {
  jobs: { type: 'string', default: '2' },
  'seeds-max': { type: 'string', default: '500' },
  check: { type: 'boolean', default: false },
};

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'test/simulation/mutants');
const TRIAL = fileURLToPath(new URL('mutants/trial.mjs', import.meta.url));

/** Universes in which what is argued to be equivalent is looked at all the same. */
const EQUIVALENT_SEEDS = 40;
/** Events are bounded; this is for a mutant that loops inside of one. */
const SEED_MS_MAX = 120_000;

/** Processes that run. */
const trials = new Set();

const USAGE = 'usage: npm run sim:mutants -- [NAME…] [--jobs N] [--seeds-max N] [--check]';

process.exitCode = await main();

async function main() {
  const asked = parsed();
  if (asked === null) return usage(null);
  const { values, positionals } = asked;
  if (![values.jobs, values['seeds-max']].every((text) => /^[1-9]\d{0,5}$/.test(text)))
    return usage('a number is none');
  const mutants = readMutants(FOLDER).filter(({ name }) => isAskedFor(name, positionals));
  if (mutants.length === 0) return usage(`no mutant is called ${positionals.join(' or ')}`);
  if (values.check) return check(mutants);
  const workshop = await openWorkshop(ROOT);
  const sitting = { workshop, seedsMax: Number(values['seeds-max']), jobs: Number(values.jobs) };
  process.once('exit', () => {
    for (const trial of trials) trial.kill('SIGKILL');
    workshop.close();
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  return tryAll(mutants, sitting);
}

function parsed() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch {
    return null;
  }
}

function usage(problem) {
  if (problem !== null) console.error(problem);
  console.error(USAGE);
  return 2;
}

function isAskedFor(name, asked) {
  return asked.length === 0 || asked.some((beginning) => name.startsWith(beginning));
}

function check(mutants) {
  let applied = 0;
  for (const { name, path } of mutants) {
    const { status, stderr } = spawnSync('git', ['apply', '--check', path], { cwd: ROOT, encoding: 'utf8' });
    if (status === 0) applied += 1;
    else console.log(`${name} does not apply any more, refresh ${path}:\n${stderr}`);
  }
  console.log(`${applied} of ${mutants.length} apply`);
  return applied === mutants.length ? 0 : 1;
}

async function tryAll(mutants, sitting) {
  const width = Math.max(...mutants.map(({ name }) => name.length));
  const results = await pooled(mutants, sitting.jobs, async (mutant) => {
    const startedMs = performance.now();
    const result = await tryOne(mutant, sitting);
    console.log(rowOf(mutant, result, performance.now() - startedMs, width));
    return { mutant, ...result };
  });
  const failures = await tryAsItIs(results, sitting);
  for (const failure of failures) console.log(failure);
  const found = results.filter(({ isFound }) => isFound).length;
  console.log(`${failures.length === 0 ? found : 0} of ${mutants.length} found`);
  return failures.length === 0 && found === mutants.length ? 0 : 1;
}

async function tryOne(mutant, { workshop, seedsMax }) {
  const made = await workshop.make(mutant);
  const isArgued = mutant.equivalent !== null;
  if (made.fault !== undefined) return { isFound: false, said: made.fault, seeds: 0 };
  const to = isArgued ? Math.min(seedsMax, EQUIVALENT_SEEDS) : seedsMax;
  const trial = await runTrial(made.dist, mutant.settings, to, isArgued ? 'any' : mutant.foundBy.join(','));
  workshop.remove(mutant);
  const { seeds, broken, detail, fault } = trial;
  if (fault !== null) return { isFound: false, said: fault, seeds };
  if (isArgued && detail === null) return { isFound: true, said: 'equivalent', seeds };
  if (isArgued) return { isFound: false, said: `is not equivalent: ${broken.join(', ')} at seed ${seeds}`, seeds };
  const by = mutant.foundBy.filter((rule) => broken.includes(rule));
  const others = broken.filter((rule) => !by.includes(rule));
  if (detail === null) return { isFound: false, said: `not found in ${seeds} universes${also(others)}`, seeds };
  return { isFound: true, said: `${by.join(', ')} at seed ${seeds}${also(others)}`, seeds };
}

function also(rules) {
  return rules.length === 0 ? '' : ` (also ${rules.join(', ')})`;
}

function rowOf({ name }, { isFound, said }, ms, width) {
  return `${isFound ? 'found    ' : 'NOT FOUND'}  ${name.padEnd(width)}  ${said}  ${(ms / 1_000).toFixed(1)} s`;
}

/** What finds a mutant must acquit the source as it is: of each kind of universe all seeds that were needed. */
async function tryAsItIs(results, { workshop, jobs }) {
  const profiles = new Map();
  for (const { mutant, seeds } of results) {
    const profile = JSON.stringify(mutant.settings);
    profiles.set(profile, Math.max(profiles.get(profile) ?? 0, seeds));
  }
  const told = await pooled([...profiles], jobs, async ([profile, seeds]) => {
    if (seeds === 0) return [];
    const { broken, detail, fault, seeds: seed } = await runTrial(workshop.dist, JSON.parse(profile), seeds, 'any');
    if (fault !== null) return [`the source as it is, ${profile}: ${fault}`];
    if (detail !== null)
      return [`the source as it is, ${profile}, breaks ${broken.join(', ')} at seed ${seed}: ${detail}`];
    console.log(`unpatched  ${seeds} universes without a violation  ${profile}`);
    return [];
  });
  return told.flat();
}

/** Runs universes from 1 on in a process of their own, until one of the rules is broken. */
function runTrial(dist, settings, seedsMax, rules) {
  const args = [TRIAL, dist, JSON.stringify(settings), '1', String(seedsMax), rules];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  trials.add(child);
  const trial = { seeds: 0, broken: [], detail: null, fault: null };
  const brokenSoFar = new Set();
  let stuck = null;
  const expectMore = () => {
    clearTimeout(stuck);
    stuck = setTimeout(() => {
      trial.fault = `is stuck: no end of universe ${trial.seeds + 1} in ${SEED_MS_MAX / 1_000} s`;
      child.kill('SIGKILL');
    }, SEED_MS_MAX);
  };
  expectMore();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { seed, broken, detail } = JSON.parse(line);
    for (const rule of broken) brokenSoFar.add(rule);
    Object.assign(trial, { seeds: seed, detail, broken: detail === null ? [...brokenSoFar] : broken });
    expectMore();
  });
  let errors = '';
  child.stderr.on('data', (text) => (errors += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(stuck);
      trials.delete(child);
      if (code !== 0 && trial.fault === null)
        trial.fault = `ended with ${code} after universe ${trial.seeds}: ${errors}`;
      resolve(trial);
    });
  });
}

/** So many at once, in order; the results in the same order. */
async function pooled(items, jobs, work) {
  const results = new Array(items.length);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]);
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, worker));
  return results;
}
