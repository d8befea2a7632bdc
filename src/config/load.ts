/**
 * From text, or a program's object, to a checked configuration: defaults ← file ← object ← environment ← `--set`, each
 * later one wins.
 *
 * Pure: it takes texts and gives a value, or throws one `ConfigError` that says where (file, line and column, variable
 * or argument), which option, what is wrong and what would be right. Each value is checked against its own option
 * where it stands, so that a message never names another layer; only contradictions need the whole.
 */
import { type Document, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { z } from 'zod';
import { ConfigError } from './error.js';
import { contradictions } from './limits.js';
import { nearestNames } from './nearest.js';
import { type Config, configSchema, GROUPS, type Option, OPTIONS, pageThreadsFor } from './schema.js';

export { ConfigError };

export interface ConfigSources {
  /** Cores of the machine: what `page.threads` follows where nobody sets it. */
  readonly cores: number;
  /** YAML or JSON. */
  readonly file?: { readonly path: string; readonly text: string };
  /** Options by group as a program gives them; what is undefined is not given. */
  readonly object?: unknown;
  /** Only `ORBWEAVER_…` is read. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** `key=value` each, in order. */
  readonly assignments?: readonly string[];
}

export interface LoadedConfig {
  readonly config: Config;
  /** Of each option by its dotted key: where its value came from, `default` included. */
  readonly origins: ReadonlyMap<string, string>;
}

interface Setting {
  readonly option: Option;
  /** As text or a file gives it: not checked yet. */
  readonly candidates: readonly unknown[];
  readonly where: string;
}

/** Throws ConfigError. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const settings = [
    ...(sources.file === undefined ? [] : settingsOfFile(sources.file.path, sources.file.text)),
    ...settingsOfObject(sources.object ?? {}, []),
    ...settingsOfEnvironment(sources.environment ?? {}),
    ...(sources.assignments ?? []).map(settingOfAssignment),
  ];
  const tree: Tree = {};
  const origins = new Map([...OPTIONS.keys()].map((key) => [key, 'default']));
  place(tree, ['page', 'threads'], pageThreadsFor(sources.cores));
  for (const setting of settings) {
    place(tree, setting.option.path, accept(setting));
    origins.set(setting.option.key, setting.where);
  }
  const config = configSchema.parse(tree);
  refuseContradictions(config, origins);
  return { config, origins };
}

/** `1` lets parser threads obey the practice web's fault header. A matter of tests, and no option. */
export const PRACTICE_FAULTS_VARIABLE = 'ORBWEAVER_PRACTICE_FAULTS';

/** The variable that sets an option: `fetch.timeoutMs` is `ORBWEAVER_FETCH_TIMEOUT_MS`. */
export function variableOf(key: string): string {
  return `ORBWEAVER_${key
    .replace(/([A-Z])/g, '_$1')
    .replaceAll('.', '_')
    .toUpperCase()}`;
}

/** What an option takes, in words: `a whole number from 1 to 4096 (requests)`. */
export function allowedValues(option: Option): string {
  const words = wordsOf(z.toJSONSchema(option.schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema);
  return option.unit === null ? words : `${words} (${option.unit})`;
}

// -- layers -----------------------------------------------------------------------------------------------------

function settingsOfFile(path: string, text: string): Setting[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  const [broken] = document.errors;
  if (broken !== undefined) throw new ConfigError(at(broken.pos[0]), null, firstLine(broken.message));
  const whereOf = (node: unknown) => at((node as Node | null)?.range?.[0] ?? 0);

  const settings: Setting[] = [];
  const walk = (node: unknown, parents: readonly string[]) => {
    if (node === null || (isScalar(node) && node.value === null)) return; // a group whose lines are all comments
    if (!isMap(node))
      throw new ConfigError(whereOf(node), parents.join('.') || null, 'options are written as key: value');
    for (const { key, value } of node.items) {
      const path = [...parents, isScalar(key) ? String(key.value) : String(key)];
      const name = path.join('.');
      const option = OPTIONS.get(name);
      if (option !== undefined) {
        const where = whereOf(value ?? key);
        settings.push({ option, candidates: [plainValue(value as Node | null, document, where, name)], where });
      } else if (GROUPS.has(name)) walk(value, path);
      else throw unknownOption(name, whereOf(key));
    }
  };
  walk(document.contents, []);
  return settings;
}

function settingsOfObject(object: unknown, parents: readonly string[]): Setting[] {
  const where = ['config', ...parents].join('.');
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    throw new ConfigError(where, parents.join('.') || null, 'options are given as an object');
  return Object.entries(object).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const path = [...parents, name];
    const key = path.join('.');
    const option = OPTIONS.get(key);
    if (option !== undefined) return { option, candidates: [value], where: `config.${key}` };
    if (GROUPS.has(key)) return settingsOfObject(value, path);
    throw unknownOption(key, `config.${key}`);
  });
}

/** Aliases are resolved within a bound: a few lines of them can stand for gigabytes. */
function plainValue(node: Node | null, document: Document, where: string, key: string): unknown {
  if (node === null) return null;
  try {
    return node.toJS(document, { maxAliasCount: 100 });
  } catch (error) {
    throw new ConfigError(where, key, firstLine((error as Error).message));
  }
}

function settingsOfEnvironment(environment: Readonly<Record<string, string | undefined>>): Setting[] {
  const optionOf = new Map([...OPTIONS.values()].map((option) => [variableOf(option.key), option]));
  const settings: Setting[] = [];
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith('ORBWEAVER_') || variable === PRACTICE_FAULTS_VARIABLE || text === undefined) continue;
    const option = optionOf.get(variable);
    if (option === undefined) {
      throw new ConfigError(
        variable,
        null,
        `no option has this variable${meant(nearestNames(variable, optionOf.keys()))}`,
      );
    }
    settings.push({ option, candidates: readings(text), where: variable });
  }
  return settings;
}

function settingOfAssignment(assignment: string): Setting {
  const where = `--set ${assignment}`;
  const equals = assignment.indexOf('=');
  if (equals < 1) throw new ConfigError(where, null, 'expected key=value, as in --set fetch.slots=64');
  const key = assignment.slice(0, equals).trim();
  const option = OPTIONS.get(key);
  if (option === undefined) throw unknownOption(key, where);
  return { option, candidates: readings(assignment.slice(equals + 1)), where };
}

/** A value on a command line is JSON, or else a string; what is JSON may still be meant as a string. */
function readings(text: string): unknown[] {
  try {
    return [JSON.parse(text), text];
  } catch {
    return [text];
  }
}

// -- checks -----------------------------------------------------------------------------------------------------

/** The first reading that the option takes. */
function accept({ option, candidates, where }: Setting): unknown {
  for (const candidate of candidates) {
    const parsed = option.schema.safeParse(candidate);
    if (parsed.success) return parsed.data;
  }
  const given = JSON.stringify(candidates[0]) ?? 'nothing';
  throw new ConfigError(where, option.key, `${option.key} takes ${allowedValues(option)}; it was given ${given}`);
}

function refuseContradictions(config: Config, origins: ReadonlyMap<string, string>): void {
  const [found] = contradictions(config);
  if (found === undefined) return;
  const blamed = found.keys.find((key) => origins.get(key) !== 'default') ?? (found.keys[0] as string);
  throw new ConfigError(origins.get(blamed) as string, blamed, found.message);
}

function unknownOption(key: string, where: string): ConfigError {
  if (GROUPS.has(key)) {
    const inside = [...OPTIONS.keys()].filter((name) => name.startsWith(`${key}.`));
    return new ConfigError(where, key, `${key} is a group; its options are ${inside.join(', ')}`);
  }
  const near = nearestNames(key, OPTIONS.keys());
  const first = OPTIONS.get(near[0] ?? '');
  const takes = first === undefined ? '' : ` ${first.key} takes ${allowedValues(first)}`;
  const all = near.length > 0 ? '' : `; the options are ${[...OPTIONS.keys()].join(', ')}`;
  return new ConfigError(where, key, `no option is named ${key}${meant(near)}${all}${takes}`);
}

function meant(names: readonly string[]): string {
  return names.length === 0 ? '' : `; did you mean ${names.join(' or ')}?`;
}

// -- words ------------------------------------------------------------------------------------------------------

interface JsonSchema {
  readonly title?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly items?: JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

const FORMATS: Readonly<Record<string, string>> = {
  cidrv4: 'an IPv4 network such as 10.0.0.0/8',
  cidrv6: 'an IPv6 network such as fd00::/8',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
};

function wordsOf(schema: JsonSchema): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(wordsOf).join(' or ');
  switch (schema.type) {
    case 'integer':
      return `a whole number from ${schema.minimum} to ${schema.maximum}`;
    case 'number':
      return `a number from ${schema.minimum} to ${schema.maximum}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
      return `a list, each of it ${wordsOf(schema.items ?? {})}`;
    case 'object':
      return `an object from ${wordsOf(schema.propertyNames ?? {})} to ${wordsOf(schema.additionalProperties ?? {})}`;
    default:
      return FORMATS[schema.format ?? ''] ?? 'a text';
  }
}

// -- helpers ----------------------------------------------------------------------------------------------------

interface Tree {
  [name: string]: Tree | unknown;
}

function place(tree: Tree, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  tree[name] ??= {};
  place(tree[name] as Tree, rest, value);
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] as string).replace(/:$/, '');
}
