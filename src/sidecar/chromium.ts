/**
 * The browser process: found, started, measured, and gone with all that it had begun.
 *
 * It is driven through pipes, not a port: when its driver dies, by whatever, the pipes close and the browser ends. What
 * it wrote lies in one folder that a small shell around it removes after its end, so that not even a kill -9 of the
 * driver leaves anything. What a kill of the shell too leaves is ended and removed by the next start.
 *
 * That shell leads a session of its own, and by that its processes are known: most of them write over their arguments
 * and environment, and some leave the tree. The few that leave the session keep the environment.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { endsWithin, sleep } from './patience.js';

/** Where distributions put it. */
const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
] as const;

/**
 * Of these switches the last one counts, not all: what the driver would switch off itself stands here again. Each of
 * them asks for something that no page did, or in another way than the page said.
 */
const FEATURES_OFF = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'Translate',
  'WebRtcHideLocalIpsWithMdns',
] as const;

/** Nothing that a page did not ask for goes out, and nothing stays behind. */
const ARGUMENTS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--no-first-run',
  '--no-pings',
  '--mute-audio',
  '--disable-dev-shm-usage',
  `--disable-features=${FEATURES_OFF.join(',')}`,
  // Datagrams would pass by the proxy.
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  // Names are looked up by whoever is at the other end of the proxy; the browser itself knows none.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE [::1] , EXCLUDE localhost',
] as const;

/** Of the browser's own errands, which no page's proxy is for: they lead nowhere. */
const NO_PROXY_OF_ITS_OWN = { server: 'http://127.0.0.1:1', bypass: '<-loopback>' };

/** What a browser needs of its driver's environment; there may be secrets beside it. */
const ENVIRONMENT = /^(PATH|LANG|LANGUAGE|LC_\w+|TZ|FONTCONFIG_\w+|LD_LIBRARY_PATH)$/;

const FOLDER_PREFIX = 'orbweaver-sidecar-';
/** In the folder: what the system says of the shell around the browser. */
const LEADER_FILE = 'leader';
const START_MS_MAX = 20_000;
const CLOSE_MS_MAX = 3_000;

export interface RunningBrowser {
  readonly browser: Browser;
  readonly version: string;
  /** Bytes that its processes have in memory to themselves: all of them, and the largest page's. */
  memory(): Memory;
  /** Ends the process of the largest page, and with it that page and those that share it. */
  endLargestPage(): void;
  /** Ends it, by force where it does not end by itself. Resolves when no process of it is left, and its folder is gone. */
  end(): Promise<void>;
}

export interface Memory {
  readonly bytes: number;
  readonly largestPageBytes: number;
}

/** The given path, or the first of the usual places that exists; null where there is none. */
export function findChromium(given: string | undefined): string | null {
  if (given !== undefined) return existsSync(given) ? given : null;
  return USUAL_PLACES.find((path) => existsSync(path)) ?? null;
}

/** Rejects with the reason in words when it does not start. */
export async function startChromium(executable: string): Promise<RunningBrowser> {
  const folder = mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const wrapper = join(folder, 'browser.sh');
  writeFileSync(wrapper, wrapperOf(executable, folder), { mode: 0o700 });
  try {
    const browser = await chromium.launch({
      executablePath: wrapper,
      headless: true,
      chromiumSandbox: process.getuid?.() !== 0,
      args: [...ARGUMENTS],
      proxy: NO_PROXY_OF_ITS_OWN,
      env: environmentFor(folder),
      timeout: START_MS_MAX,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    const leader = leaderOf(folder);
    return {
      browser,
      version: browser.version(),
      memory: () => memoryOf(processesOf(folder, leader)),
      endLargestPage: () => endLargestPage(processesOf(folder, leader)),
      end: () => end(browser, folder, leader),
    };
  } catch (error) {
    await clear(folder);
    throw error;
  }
}

/** Folders of drivers that are no more, and what still runs on them. Resolves with their number. */
export async function sweepFolders(): Promise<number> {
  let swept = 0;
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    await clear(join(tmpdir(), name));
    swept += 1;
  }
  return swept;
}

function environmentFor(folder: string): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => ENVIRONMENT.test(name)) as [string, string][];
  return {
    ...Object.fromEntries(kept),
    TMPDIR: folder,
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_CACHE_HOME: folder,
  };
}

function wrapperOf(executable: string, folder: string): string {
  return `#!/bin/sh
# Runs the browser, and removes what it wrote when it has ended, however that came.
cat "/proc/$$/stat" > '${quoted(folder)}/${LEADER_FILE}'
'${quoted(executable)}' --user-data-dir='${quoted(folder)}/profile' "$@" &
browser=$!
trap 'kill -9 $browser 2>/dev/null' TERM INT HUP
wait $browser
exec rm -rf -- '${quoted(folder)}'
`;
}

function quoted(text: string): string {
  return text.replaceAll("'", "'\\''");
}

async function end(browser: Browser, folder: string, leader: Process | null): Promise<void> {
  await endsWithin(browser.close(), CLOSE_MS_MAX);
  await clear(folder, leader);
}

/** Kills until nothing is left: a browser that ends begins no new processes, but those of a moment ago may be missed. */
async function clear(folder: string, leader: Process | null = leaderOf(folder)): Promise<void> {
  const left = (): Process[] => processesOf(folder, leader);
  for (let processes = left(); processes.length > 0; processes = left()) {
    for (const { pid } of processes) kill(pid);
    await sleep(20);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

// -- its processes --------------------------------------------------------------------------------------------------

/** The leader of a session, told from a later process of the same number. */
interface Process {
  readonly pid: number;
  readonly session: number;
  /** Of the machine's clock. */
  readonly startedAt: string;
}

/** What the shell was when it began; null where it has not come to that. */
function leaderOf(folder: string): Process | null {
  return processIn(read(join(folder, LEADER_FILE)));
}

/**
 * Those of the leader's session, and those that have left it and have the folder in their environment. No number is
 * given to another process while it is that of a session, so a leader that has started at another time is none of ours.
 */
function processesOf(folder: string, leader: Process | null): Process[] {
  const all = allProcesses();
  const atItsPlace = all.find(({ pid }) => pid === leader?.pid);
  const isSessionOurs = leader !== null && (atItsPlace === undefined || atItsPlace.startedAt === leader.startedAt);
  return all.filter(
    ({ pid, session }) =>
      (isSessionOurs && session === leader.pid) || read(`/proc/${pid}/environ`).includes(`TMPDIR=${folder}\0`),
  );
}

/** Without those that have ended and wait to be asked how. */
function allProcesses(): Process[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc').flatMap((name) => {
    const process = /^\d+$/.test(name) ? processIn(read(`/proc/${name}/stat`)) : null;
    return process === null ? [] : [process];
  });
}

/** Fields of proc(5) `stat`, counted after the name in parentheses, which may hold anything. */
function processIn(stat: string): Process | null {
  const [state, , , session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (session === undefined || state === 'Z' || state === 'X') return null;
  return { pid: Number.parseInt(stat, 10), session: Number(session), startedAt: rest[15] ?? '' };
}

function memoryOf(processes: readonly Process[]): Memory {
  const sizes = processes.map(({ pid }) => ({ pid, bytes: bytesOf(pid) }));
  const pages = sizes.filter(({ pid }) => isPage(pid));
  return {
    bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    largestPageBytes: Math.max(0, ...pages.map(({ bytes }) => bytes)),
  };
}

function endLargestPage(processes: readonly Process[]): void {
  const pages = processes.filter(({ pid }) => isPage(pid)).map(({ pid }) => ({ pid, bytes: bytesOf(pid) }));
  const [largest] = pages.sort((a, b) => b.bytes - a.bytes);
  if (largest !== undefined) kill(largest.pid);
}

function isPage(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`).includes('--type=renderer');
}

/** Pages of files are shared and can be dropped, so they don't count. */
function bytesOf(pid: number): number {
  const kilobytes = /^RssAnon:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1];
  return kilobytes === undefined ? 0 : Number(kilobytes) * 1_024;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
