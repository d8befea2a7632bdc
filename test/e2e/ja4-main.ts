/**
 * `npm run e2e:ja4`: the handshake of tier 2, captured on loopback, beside the one that is published for the browser it
 * names and the one of the Chromium that is installed here. Lists every difference; exits with 1 where tier 2 is not what
 * is published, which is the only thing that is promised.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FetchRequest } from '../../src/domain/fetching.js';
import { guardRules } from '../../src/net/guard.js';
import { createImpersonator } from '../../src/net/impersonator.js';
import { authority } from '../net/identity.js';
import { type ClientHello, hexes, isGrease, ja4Of, listenForHellos } from '../support/client-hello.js';
import { type Http2Opening, listenForHttp2, shortForm } from '../support/http2-opening.js';

const BROWSER = 'chrome151';
const PUBLISHED = 't13d1516h2_8daaf6152771_806a8c22fdea';
const CHROMIUM = '/usr/bin/chromium';
const VISIT_MS_MAX = 30_000;

interface Capture {
  readonly hello: ClientHello;
  readonly opening: Http2Opening;
}

const trial = authority();
const failures: string[] = [];
try {
  const ours = await captured(impersonate);
  print(`tier 2 (${BROWSER})`, ours);
  const ja4 = ja4Of(ours.hello);
  console.log(`published for ${BROWSER}: ${PUBLISHED}: ${ja4 === PUBLISHED ? 'equal' : 'NOT EQUAL'}\n`);
  if (ja4 !== PUBLISHED) failures.push(`JA4 of tier 2 is ${ja4}, not ${PUBLISHED}`);
  if (existsSync(CHROMIUM)) {
    const theirs = await captured(browse);
    print(`${await versionOf(CHROMIUM)} (installed)`, theirs);
    printDifferences(ours, theirs);
  } else {
    console.log(`${CHROMIUM} is not there: nothing to compare with`);
  }
} finally {
  trial.remove();
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length === 0 ? 0 : 1;

async function captured(visit: (url: string, stop: Promise<unknown>) => Promise<void>): Promise<Capture> {
  const hellos = await listenForHellos();
  const next = hellos.next();
  const [hello] = await Promise.all([next, visit(`https://site.test:${hellos.port}/`, next)]);
  await hellos.stop();
  const http2 = await listenForHttp2(trial.issue('DNS:site.test'));
  const first = http2.next();
  const [opening] = await Promise.all([first, visit(`https://site.test:${http2.port}/`, first)]);
  await http2.stop();
  return { hello, opening };
}

async function impersonate(url: string): Promise<void> {
  const opened = await createImpersonator({
    browser: BROWSER,
    from: null,
    guard: guardRules(['127.0.0.1']),
    caFile: trial.caFile,
    clock: { monotonicMs: () => performance.now() },
    bodyBudgetBytes: 1024 * 1024,
  });
  if (opened.kind === 'unavailable') throw new Error(opened.why);
  const request: FetchRequest = {
    url,
    tier: 2,
    origin: new URL(url).origin,
    address: { address: '127.0.0.1', family: 4 },
    headers: [],
    deadlineMs: VISIT_MS_MAX,
    bodyBytesMax: 1024,
    headerBytesMax: 1024,
    cutAtBound: false,
  };
  await opened.impersonator.fetch(request, new AbortController().signal);
  await opened.impersonator.close();
}

/** A fresh Chromium goes there; it and its profile are gone when it has been seen. */
async function browse(url: string, seen: Promise<unknown>): Promise<void> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--no-first-run',
    '--ignore-certificate-errors',
    `--user-data-dir=${profile}`,
    '--host-resolver-rules=MAP site.test 127.0.0.1',
    '--dump-dom',
    url,
  ];
  const child = spawn(CHROMIUM, args, { stdio: 'ignore', detached: true });
  const gone = new Promise((resolve) => child.once('close', resolve));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, VISIT_MS_MAX);
  });
  await Promise.race([seen, late]);
  clearTimeout(timer);
  try {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
  await gone;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}

function versionOf(program: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(program, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    child.once('close', () => resolve(text.trim().split('\n')[0] ?? program));
  });
}

function print(who: string, { hello, opening }: Capture): void {
  console.log(who);
  console.log(`  JA4     ${ja4Of(hello)}`);
  for (const [name, values] of featuresOf(hello)) console.log(`  ${name}: ${values.join(' ')}`);
  console.log(`  HTTP/2  ${shortForm(opening)}, weight ${opening.weight ?? 'none'}`);
  console.log(`  fields  ${opening.fields.join(' ')}\n`);
}

function featuresOf(hello: ClientHello): [string, string[]][] {
  const plain = (values: readonly number[]) => hexes(values.filter((it) => !isGrease(it)));
  const types = hello.extensions.map(({ type }) => type);
  return [
    ['ciphers', plain(hello.ciphers)],
    ['extensions (sorted, as they are shuffled)', plain(types).sort()],
    ['groups', plain(hello.groups)],
    ['key shares', plain(hello.keyShares)],
    ['signature algorithms', plain(hello.signatureAlgorithms)],
    ['versions', plain(hello.versions)],
    ['certificate compression', plain(hello.certificateCompressions)],
    ['protocols', [...hello.alpn]],
    ['GREASE', [hello.ciphers, types, hello.groups, hello.versions].map((it) => String(it.filter(isGrease).length))],
  ];
}

function printDifferences(ours: Capture, theirs: Capture): void {
  console.log('differences, tier 2 | installed Chromium');
  const [mine, others] = [featuresOf(ours.hello), featuresOf(theirs.hello)];
  let count = 0;
  const differ = (name: string, one: string, other: string): void => {
    if (one === other) return;
    count += 1;
    console.log(`  ${name}: ${one} | ${other}`);
  };
  mine.forEach(([name, values], i) => {
    const other = others[i]?.[1] ?? [];
    const [only, lacks] = [values.filter((it) => !other.includes(it)), other.filter((it) => !values.includes(it))];
    if (only.length + lacks.length > 0) differ(name, `only ${only.join(' ') || '-'}`, `only ${lacks.join(' ') || '-'}`);
    else differ(`${name} (order)`, values.join(' '), other.join(' '));
  });
  differ('HTTP/2', shortForm(ours.opening), shortForm(theirs.opening));
  differ('weight of the first stream', String(ours.opening.weight), String(theirs.opening.weight));
  differ('fields (order)', ours.opening.fields.join(' '), theirs.opening.fields.join(' '));
  const held = new Map(theirs.opening.headers);
  for (const [name, value] of ours.opening.headers) {
    if (!name.startsWith(':')) differ(`field ${name}`, value, held.get(name) ?? 'absent');
  }
  console.log(count === 0 ? '  none' : `  ${count} in all`);
}
