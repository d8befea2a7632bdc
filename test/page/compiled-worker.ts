/**
 * The parser thread's code as JavaScript, for tests: Node runs no TypeScript. Types are stripped file by file, so that
 * it takes a moment, not a build.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';

export interface CompiledWorker {
  readonly url: URL;
  remove(): void;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What the thread may import of the project. */
const FOLDERS = ['domain', 'plugins', 'policy', 'protocols', 'page', 'sinks'];

/** Inside the project, so that its packages are found; in a folder that is never committed. */
export function compileWorker(): CompiledWorker {
  mkdirSync(join(ROOT, 'coverage'), { recursive: true });
  const out = mkdtempSync(join(ROOT, 'coverage', 'parser-thread-'));
  for (const folder of FOLDERS) {
    const from = join(ROOT, 'src', folder);
    for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts') || name.endsWith('.d.ts')) continue;
      const source = join(from, name);
      const target = join(out, relative(join(ROOT, 'src'), source).replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, stripTypes(readFileSync(source, 'utf8')));
    }
  }
  return {
    url: pathToFileURL(join(out, 'page', 'worker.js')),
    remove: () => rmSync(out, { recursive: true, force: true }),
  };
}

function stripTypes(source: string): string {
  return ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  }).outputText;
}
