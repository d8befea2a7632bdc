/**
 * Is the package whole? Packs it, installs the tarball in an empty folder as a user would, compiles a program against its
 * types (`nodenext`, strict, library checks on and off, with and without the types of Node), runs that program over the
 * practice web of the installed package, and asks the installed command for its version.
 *
 *     npm run e2e:package
 *
 * Needs the registry, or its packages in npm's cache. Prints what it found; ends with 1 where something is wrong.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'orbweaver-package-'));
/** Of the tarball: a package that grew by half of itself has something in it that should not be there. */
const FILES_MAX = 800;
const UNPACKED_BYTES_MAX = 5_000_000;

const PROGRAM = `
import { createCrawler, CrawlerError, type ContentHandler, type Page, type UrlFilter } from 'orbweaver';

// Of this module alone, so that it needs no types of Node.
declare const process: { readonly argv: readonly string[] };
declare const console: { log(text: string): void; error(what: unknown): void };

const filter: UrlFilter = ({ url, depth }) => depth < 3 || \`too deep: \${url}\`;
export const handler: ContentHandler<{ deep: boolean }> = {
  types: ['application/json'],
  read: (content, { deep }) => ({ title: content.mime, data: deep ? content.bytes.length : null }),
};
const [, , dataDir = '', seed = ''] = process.argv;
const crawler = createCrawler({
  dataDir,
  seeds: [seed],
  pagesMax: 30,
  urlFilter: filter,
  want: { text: true },
  config: {
    userAgent: 'ExampleBot/1.0 (+https://bot.example/)',
    scope: 'any',
    dns: { hosts: { '*.practice.test': '127.0.0.1' } },
    guard: { allow: ['127.0.0.0/8'] },
    politeness: { delayMs: 20, adaptiveFactor: 0, addressDelayMs: 0 },
    waitSeconds: 0,
  },
});
crawler.on('visit', ({ outcome, status }) => void [outcome.length, status?.toFixed()]);
// @ts-expect-error there is no such event
crawler.on('visited', () => {});
const pages: Page[] = [];
try {
  for await (const page of crawler) pages.push(page);
} catch (error) {
  console.error(error instanceof CrawlerError ? error.code : error);
}
const { reason, fetched } = await crawler.ended;
const { explanation } = await crawler.why(seed);
console.log(JSON.stringify({ reason, fetched, pages: pages.length, texts: pages.filter(({ text }) => text !== null).length, explanation }));
`;

const children = [];
let isWhole = false;
try {
  await main();
  isWhole = true;
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isWhole ? 0 : 1;

async function main() {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], root, 'ignore'));
  console.log(
    `packed ${packed.filename}: ${packed.entryCount} files, ${packed.size} bytes, ${packed.unpackedSize} unpacked`,
  );
  if (packed.entryCount > FILES_MAX || packed.unpackedSize > UNPACKED_BYTES_MAX) throw new Error('too much in it');
  const strange = packed.files
    .map(({ path }) => path)
    .filter((path) => /\.map$|^(src|test|bench|scripts)\/|\.tsbuildinfo$/.test(path));
  if (strange.length > 0) throw new Error(`not for users: ${strange.slice(0, 5)}`);

  writeFileSync(join(folder, 'package.json'), '{"name": "consumer", "private": true, "type": "module"}');
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
  run('npm', [...install, `./${packed.filename}`], folder);
  console.log(
    `installed without scripts: ${run('npm', ['ls', '--all', '--parseable'], folder).trim().split('\n').length - 1} packages`,
  );

  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  compile('without the types of Node, libraries checked', {
    skipLibCheck: false,
    types: [],
    lib: ['es2023'],
    noEmit: true,
  });
  symlinkSync(join(root, 'node_modules', '@types', 'node'), join(folder, 'node-types'));
  const types = { types: ['./node-types'] };
  compile('with the types of Node, libraries checked', { ...types, skipLibCheck: false, noEmit: true });
  compile('with the types of Node, libraries unchecked', { ...types, skipLibCheck: true });

  const said = run(join(folder, 'node_modules', '.bin', name), ['--version'], folder).trim();
  if (said !== version) throw new Error(`the command says ${said} instead of ${version}`);
  console.log(`command: ${said}`);

  const { seeds } = await practice();
  const result = JSON.parse(run(process.execPath, ['program.js', join(folder, 'data'), seeds[0]], folder));
  console.log(`ran: ${JSON.stringify(result)}`);
  if (result.pages === 0 || result.pages !== result.fetched || result.texts === 0) throw new Error('no pages');
  console.log('the package is whole');
}

function compile(how, options) {
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    ...options,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder], folder);
  console.log(`compiled ${how}`);
}

/** The practice web of the installed package; resolves to what it says of itself first. */
function practice() {
  const main = join(folder, 'node_modules', name, 'dist', 'cli', 'main.js');
  const words = [main, 'practice', '--port', '0', '--hosts', '3', '--pages', '40', '--profile', 'flat', '--json'];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the practice web ended with ${code}`)));
    child.stdout.setEncoding('utf8').once('data', (text) => resolve(JSON.parse(text.split('\n')[0])));
  });
}

function run(command, words, cwd, stderr = 'inherit') {
  try {
    return execFileSync(command, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', stderr] });
  } catch (error) {
    if (typeof error.stdout === 'string') console.error(error.stdout);
    throw error;
  }
}
