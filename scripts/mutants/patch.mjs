/**
 * A mutant: one planted fault, as a patch of the source with a head that says what it is.
 *
 *     The planted fault, in a sentence.
 *     invariant: P2
 *     found-by: gap, in-flight
 *     settings: {"kills": 6}
 *     --- a/src/…
 *
 * `found-by` names the rules of the simulation that must find it: one of them is enough, any other is not. `settings`
 * are those of the universes in which it is looked for, beside the common ones. Instead of `found-by` stands
 * `equivalent`, and the reason, where a change of the source changes nothing that could be seen.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const KEYS = ['invariant', 'found-by', 'settings', 'equivalent'];
const NAME = /^\d{2}-[a-z0-9-]+$/;

/** All that stand in a folder, in the order of their numbers. */
export function readMutants(folder) {
  const names = readdirSync(folder).filter((file) => file.endsWith('.patch'));
  return names.sort().map((file) => readMutant(file.slice(0, -'.patch'.length), join(folder, file)));
}

/** @throws {SyntaxError} that names the file whose head is not well formed. */
export function readMutant(name, path) {
  const wrong = (what) => new SyntaxError(`${name}.patch: ${what}`);
  if (!NAME.test(name)) throw wrong('its name is not of the form NN-some-words');
  const text = readFileSync(path, 'utf8');
  const from = text.search(/^--- /m);
  if (from < 0) throw wrong('there is no patch in it');
  const head = readHead(text.slice(0, from), wrong);
  return { name, path, ...head };
}

function readHead(text, wrong) {
  const fields = { fault: '' };
  let key = 'fault';
  for (const line of text.split('\n')) {
    const found = /^([a-z-]+): (.*)$/.exec(line);
    if (found !== null && !KEYS.includes(found[1])) throw wrong(`it says ${found[1]}, which means nothing`);
    if (found !== null && fields[found[1]] !== undefined) throw wrong(`it says ${found[1]} twice`);
    if (found !== null) key = found[1];
    fields[key] = `${fields[key] ?? ''} ${found === null ? line : found[2]}`.trim();
  }
  const { fault, invariant, equivalent } = fields;
  const foundBy = (fields['found-by'] ?? '').split(',').flatMap((rule) => rule.trim() || []);
  if (fault === '') throw wrong('it does not say what the fault is');
  if (!invariant) throw wrong('it names no invariant');
  if (foundBy.length > 0 === Boolean(equivalent)) throw wrong('it must say either found-by or equivalent');
  for (const rule of foundBy) if (!/^[a-z_-]+$/.test(rule)) throw wrong(`${rule} is no name of a rule`);
  return { fault, invariant, foundBy, equivalent: equivalent || null, settings: settingsOf(fields.settings, wrong) };
}

function settingsOf(text, wrong) {
  if (text === undefined) return {};
  try {
    return JSON.parse(text);
  } catch {
    throw wrong('its settings are not JSON');
  }
}
