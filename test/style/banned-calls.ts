/**
 * Calls that escape simulated time or seeded chance, and what to write instead.
 *
 * The scan reads syntax trees, so that comments and strings don't count. It knows names, not types: a local called
 * `crypto` is taken for the global. That errs on the side of a finding.
 */
import ts from 'typescript';
import { nodesOf, placeOf } from './source.js';

/** Where time and chance are real. Everything else gets them as arguments. */
const REAL_WORLD = [
  /^src\/(net|store|sinks|page|cli|practice|sidecar|sim)\//,
  /^src\/main\.ts$/,
  /^src\/supervision\/(.*\/)?clock\.ts$/,
];

/** Folders whose code performs nothing at all: not even a timer. */
const PURE = /^src\/(domain|policy|protocols|actors)\//;

const CLOCK = 'take the instant as an argument, or Clock from the ports';
const CHANCE = 'take a draw as an argument, or Chance from the ports';
const TIMER = 'the global setTimeout, in an adapter; elsewhere return a timer effect';

const BANNED_MODULES: Readonly<Record<string, string>> = {
  timers: TIMER,
  'timers/promises': TIMER,
  perf_hooks: CLOCK,
};

/** `object.member`; a member of null stands for every member that begins with `random` or gets random values. */
const BANNED_MEMBERS: readonly (readonly [object: string, member: RegExp, instead: string])[] = [
  ['AbortSignal', /^timeout$/, 'an AbortController that a timer effect or a global setTimeout aborts'],
  ['Date', /^now$/, CLOCK],
  ['performance', /^(now|timeOrigin)$/, CLOCK],
  ['process', /^(hrtime|uptime)$/, CLOCK],
  ['Math', /^random$/, CHANCE],
  ['crypto', /^(random|getRandomValues)/, CHANCE],
];

const BANNED_NAMES: Readonly<Record<string, string>> = {
  MessageChannel: 'setImmediate, in an adapter',
};

const BANNED_IN_PURE = /^(setTimeout|setInterval|setImmediate|queueMicrotask)$/;

/** One line a finding: place, what, and its replacement. */
export function findBannedCalls(file: ts.SourceFile): string[] {
  if (REAL_WORLD.some((allowed) => allowed.test(file.fileName))) return [];
  const findings: string[] = [];
  for (const node of nodesOf(file)) {
    const found = bannedAt(node, PURE.test(file.fileName));
    if (found !== null) findings.push(`${placeOf(file, node)} ${found.what}: use ${found.instead}`);
  }
  return findings;
}

interface Finding {
  readonly what: string;
  readonly instead: string;
}

function bannedAt(node: ts.Node, pure: boolean): Finding | null {
  if (ts.isStringLiteralLike(node) && namesModule(node)) return bannedModule(node);
  if (ts.isPropertyAccessExpression(node)) return bannedMember(node);
  if (ts.isNewExpression(node)) return bannedDate(node);
  if (ts.isIdentifier(node) && !isMemberName(node)) return bannedName(node, pure);
  return null;
}

function bannedModule(specifier: ts.StringLiteralLike): Finding | null {
  const name = specifier.text.replace(/^node:/, '');
  const instead = BANNED_MODULES[name];
  return instead === undefined ? null : { what: `imports ${specifier.text}`, instead };
}

function bannedMember(node: ts.PropertyAccessExpression): Finding | null {
  const object = lastName(node.expression);
  const member = node.name.text;
  const entry = BANNED_MEMBERS.find(([name, pattern]) => name === object && pattern.test(member));
  return entry === undefined ? null : { what: `${object}.${member}`, instead: entry[2] };
}

/** `new Date()` reads the clock; `new Date(something)` doesn't. */
function bannedDate(node: ts.NewExpression): Finding | null {
  const reads = lastName(node.expression) === 'Date' && (node.arguments?.length ?? 0) === 0;
  return reads ? { what: 'new Date()', instead: CLOCK } : null;
}

function bannedName(node: ts.Identifier, pure: boolean): Finding | null {
  const instead = Object.hasOwn(BANNED_NAMES, node.text) ? BANNED_NAMES[node.text] : undefined;
  if (instead !== undefined) return { what: node.text, instead };
  if (pure && BANNED_IN_PURE.test(node.text)) return { what: node.text, instead: 'a timer effect' };
  if (/^(random(Bytes|UUID|Int|Fill|FillSync)|getRandomValues)$/.test(node.text) && isImported(node)) {
    return { what: `imports ${node.text}`, instead: CHANCE };
  }
  return null;
}

/** Of `import … from 'x'`, `export … from 'x'`, `import('x')`, `require('x')`. */
function namesModule(node: ts.StringLiteralLike): boolean {
  const parent = node.parent;
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) return true;
  if (!ts.isCallExpression(parent) || parent.arguments[0] !== node) return false;
  return parent.expression.kind === ts.SyntaxKind.ImportKeyword || lastName(parent.expression) === 'require';
}

/** `a` of `a`, `b` of `globalThis.b`; the empty string for anything else. */
function lastName(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : '';
}

/** The name after a dot, or the key of a property: names nothing global. `globalThis.x` does. */
function isMemberName(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return lastName(parent.expression) !== 'globalThis';
  return (
    (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isMethodDeclaration(parent)) &&
    parent.name === node
  );
}

function isImported(node: ts.Identifier): boolean {
  return ts.isImportSpecifier(node.parent);
}
