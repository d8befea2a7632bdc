/**
 * `npm start`: builds, then crawls the practice web on loopback and prints what came of it; ends by itself.
 * `npm start -- URL…`: crawls these instead. `npm start -- COMMAND …`: runs any other command.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

const DEMO_SECONDS_MAX = 80;
const PRACTICE_START_MS_MAX = 20_000;

// Ctrl-C reaches the children as well; they stop cleanly, and this process waits for them.
process.on('SIGINT', () => {});

process.exitCode = await main(process.argv.slice(2));

async function main(words) {
  console.error('Building …');
  const built = await ended(
    node([fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url)), '-p', 'tsconfig.build.json'], {
      cwd: root,
    }),
  );
  if (built !== 0) {
    console.error('The build failed: see above. After a fresh checkout, `npm ci` comes first.');
    return 1;
  }
  if (words.length === 0) return practice();
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(words[0]);
  return ended(node([program, ...(isUrl ? ['crawl'] : []), ...words]));
}

/** The practice web in one process, the crawl of it in another. */
async function practice() {
  const server = node([program, 'practice', '--json', '--port', '0', '--agent', 'Orbweaver'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const serverEnded = ended(server);
  try {
    const web = await listening(server, serverEnded);
    console.log(`Crawling the practice web: ${web.hosts} hosts, ${web.pages} pages, from ${web.seeds.length} seeds.`);
    console.log(`What there is to find: ${web.truth} (while this runs)\n`);
    return await ended(node([program, 'crawl', ...web.seeds, ...demoOptions()]));
  } finally {
    server.kill('SIGTERM');
    await serverEnded;
  }
}

/** Quick, since all of it is on this machine and meant to be crawled. */
function demoOptions() {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '');
  const settings = {
    'dns.hosts': { '*.practice.test': '127.0.0.1' },
    'guard.allow': ['127.0.0.0/8'],
    'politeness.delayMs': 100,
    // All hosts of the practice web share one address.
    'politeness.addressDelayMs': 0,
  };
  return [
    ...['--data', `crawls/practice-${time}`],
    ...['--max-seconds', String(DEMO_SECONDS_MAX)],
    ...Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${JSON.stringify(value)}`]),
  ];
}

/** What the server says of itself, once it answers. */
async function listening(server, serverEnded) {
  const line = once(createInterface(server.stdout), 'line').then(([text]) => JSON.parse(text));
  const early = serverEnded.then((code) => {
    throw new Error(`the practice web ended at once, with ${code}`);
  });
  early.catch(() => {}); // it ends later too, when nobody listens any more
  const web = await Promise.race([line, early, late()]);
  const answer = await fetch(web.truth);
  if (!answer.ok) throw new Error(`${web.truth} answers ${answer.status}`);
  await answer.body?.cancel();
  return web;
}

function late() {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error('the practice web did not start in time')), PRACTICE_START_MS_MAX).unref();
  });
}

function node(args, options = {}) {
  return spawn(process.execPath, args, { stdio: 'inherit', ...options });
}

/** The exit code; 130 where a signal ended it. */
async function ended(child) {
  const [code] = await once(child, 'exit');
  return code ?? 130;
}
