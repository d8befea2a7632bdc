/**
 * Where mutants are made: a folder of copies of the source, each with its own build.
 *
 * The source as it is gets built once, incrementally. A mutant begins as a copy of that, build included, so that its
 * compiler looks only at what the patch has changed; and it does look: a mutant that does not typecheck is none.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const COPIED = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

/** @param root the project's folder */
export async function openWorkshop(root) {
  const folder = mkdtempSync(join(tmpdir(), 'orbweaver-mutants-'));
  const close = () => rmSync(folder, { recursive: true, force: true });
  const base = join(folder, 'as-it-is');
  mkdirSync(base);
  for (const name of COPIED) cpSync(join(root, name), join(base, name), { recursive: true });
  furnish(root, base);
  const fault = await compile(base);
  if (fault !== null) {
    close();
    throw new Error(`the source does not compile as it is:\n${fault}`);
  }
  return {
    /** The build of the source as it is. */
    dist: join(base, 'dist'),
    /** @returns its build, or what is wrong with the patch. */
    make: (mutant) => make(mutant, root, base, join(folder, mutant.name)),
    remove: (mutant) => rmSync(join(folder, mutant.name), { recursive: true, force: true }),
    close,
  };
}

async function make(mutant, root, base, folder) {
  cpSync(base, folder, { recursive: true, filter: (path) => !path.endsWith('node_modules') });
  furnish(root, folder);
  const applied = await run('git', ['apply', '--whitespace=nowarn', mutant.path], folder);
  if (applied.code !== 0) return { fault: `does not apply any more, refresh ${mutant.path}:\n${applied.output}` };
  const fault = await compile(folder);
  return fault === null
    ? { dist: join(folder, 'dist') }
    : { fault: `does not compile, refresh ${mutant.path}:\n${fault}` };
}

function furnish(root, folder) {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

async function compile(folder) {
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  const incremental = ['--incremental', '--tsBuildInfoFile', 'dist/.tsbuildinfo'];
  const lean = ['--declaration', 'false', '--sourceMap', 'false'];
  const { code, output } = await run(
    process.execPath,
    [tsc, '-p', 'tsconfig.build.json', ...incremental, ...lean],
    folder,
  );
  return code === 0 ? null : output;
}

/** No repository around the folder may have its say: `git apply` is to look at the folder alone. */
function run(command, args, cwd) {
  const child = spawn(command, args, { cwd, env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() } });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
