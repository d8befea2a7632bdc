import ts from 'typescript';
import { expect, it } from 'vitest';
import { nodesOf, parseFile, parseText, placeOf, sourcePaths } from './source.js';

const FUNCTION_LINES_MAX = 70;

/** Functions longer than the bound, from the first line of their signature to their closing brace. */
function longFunctions(file: ts.SourceFile): string[] {
  const findings: string[] = [];
  for (const node of nodesOf(file)) {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) continue;
    const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
    const lines = file.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1;
    if (lines > FUNCTION_LINES_MAX) {
      findings.push(`${placeOf(file, node)} ${lines} lines: branch in the parent, compute in the leaves`);
    }
  }
  return findings;
}

it('no function of src is longer than 70 lines', () => {
  expect(sourcePaths('src').flatMap((path) => longFunctions(parseFile(path)))).toEqual([]);
});

it.each([
  ['function f() {', '}'],
  ['const f = () => {', '};'],
  ['class C { constructor() {', '} }'],
  ['class C { get f() {', '} }'],
])('70 lines pass and 71 are seen: %s … %s', (head, tail) => {
  const withLines = (count: number) =>
    parseText(
      'planted.ts',
      `/** A comment\n * above counts nothing. */\n${head}\n${'  go();\n'.repeat(count - 2)}${tail}\n`,
    );
  expect(longFunctions(withLines(FUNCTION_LINES_MAX))).toEqual([]);
  expect(longFunctions(withLines(FUNCTION_LINES_MAX + 1))).toHaveLength(1);
});
