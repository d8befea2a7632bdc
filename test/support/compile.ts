/** Compiles a TypeScript file and all that it imports from this project into a folder, so that a child process can run it. */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

/** @returns the path of the compiled entry. */
export async function compileInto(folder: string, entry: string): Promise<string> {
  const root = resolve(import.meta.dirname, '../..');
  const done = new Set<string>();
  const compile = async (file: string): Promise<void> => {
    if (done.has(file)) return;
    done.add(file);
    const { outputText } = ts.transpileModule(await readFile(file, 'utf8'), {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
    });
    const out = join(folder, relative(root, file)).replace(/\.ts$/, '.js');
    await mkdir(dirname(out), { recursive: true });
    await writeFile(out, outputText);
    for (const [, imported] of outputText.matchAll(/from '(\.[^']+)\.js'/g))
      await compile(`${resolve(dirname(file), imported as string)}.ts`);
  };
  await compile(resolve(root, entry));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return join(folder, entry).replace(/\.ts$/, '.js');
}
