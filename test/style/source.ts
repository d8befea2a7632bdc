/** The project's own sources as syntax trees, for the tests that hold its style. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** Paths from the project's root, with `/`, of every TypeScript file under a folder of it. */
export function sourcePaths(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(PROJECT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

export function parseFile(path: string): ts.SourceFile {
  return parseText(path, readFileSync(join(PROJECT, path), 'utf8'));
}

export function parseText(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
}

/** Every node below, parents first. */
export function* nodesOf(root: ts.Node): Generator<ts.Node> {
  const open: ts.Node[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    const children: ts.Node[] = [];
    node.forEachChild((child) => void children.push(child));
    open.push(...children.reverse());
  }
}

/** `path:line` of a node, as an editor opens it. */
export function placeOf(file: ts.SourceFile, node: ts.Node): string {
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`;
}
