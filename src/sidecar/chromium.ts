/**
 * The browser process: found, started, measured, and gone with all that it had begun.
 *
 * It is driven through pipes, not a port: when its driver dies, by whatever, the pipes close and the browser ends. What
 * it wrote lies in one folder that a small shell around it removes after its end, so that not even a kill -9 of the
 * driver leaves anything. What a kill of the whole process group leaves is removed by the next start.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Where distributions put it. */
const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
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
  '--disable-features=WebRtcHideLocalIpsWithMdns,Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider',
  // Datagrams would pass by the proxy.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
] as const;

const FOLDER_PREFIX = 'orbweaver-sidecar-';
const START_MS_MAX = 20_000;
const CLOSE_MS_MAX = 3_000;

export interface RunningBrowser {
  readonly browser: Browser;
  readonly version: string;
  /** Bytes in memory of all its processes, shared pages counted once a process. */
  memoryBytes(): number;
  /** Ends it, by force where it does not end by itself. Resolves when no process of it is left, and its folder is gone. */
  end(): Promise<void>;
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
      env: { ...process.env, TMPDIR: folder, HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder },
      timeout: START_MS_MAX,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    return {
      browser,
      version: browser.version(),
      memoryBytes: () => processesOf(folder).reduce((sum, pid) => sum + memoryOf(pid), 0),
      end: () => end(browser, folder),
    };
  } catch (error) {
    await clear(folder);
    throw error;
  }
}

/** Folders of drivers that are no more. */
export function sweepFolders(): number {
  let swept = 0;
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    rmSync(join(tmpdir(), name), { recursive: true, force: true });
    swept += 1;
  }
  return swept;
}

function wrapperOf(executable: string, folder: string): string {
  return `#!/bin/sh
# Runs the browser, and removes what it wrote when it has ended, however that came.
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

async function end(browser: Browser, folder: string): Promise<void> {
  await Promise.race([browser.close().catch(() => {}), sleep(CLOSE_MS_MAX)]);
  await clear(folder);
}

/** Kills until nothing is left: those that name the folder last, as by them the others are found. */
async function clear(folder: string): Promise<void> {
  for (let pids = processesOf(folder); pids.length > 0; pids = processesOf(folder)) {
    for (const pid of pids.reverse()) kill(pid);
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

/**
 * The processes of a browser. Its first ones have the folder in their environment; those that it begins write over
 * theirs, but are of the same session, which no process leaves by accident. Zombies are none.
 */
function processesOf(folder: string): number[] {
  const alive = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [placeOf(Number(name))] : []));
  const isNamed = ({ pid }: Place): boolean => read(`/proc/${pid}/environ`).includes(`TMPDIR=${folder}`);
  const sessions = new Set(alive.filter(isNamed).map(({ session }) => session));
  return alive.flatMap(({ pid, session, isZombie }) => (sessions.has(session) && !isZombie ? [pid] : []));
}

interface Place {
  readonly pid: number;
  readonly session: number;
  readonly isZombie: boolean;
}

/** After the name, which may hold anything: state, parent, group, session. */
function placeOf(pid: number): Place {
  const [state = 'Z', , , session = '0'] = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return { pid, session: Number(session), isZombie: state === 'Z' };
}

function memoryOf(pid: number): number {
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

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
