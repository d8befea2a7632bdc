/**
 * A network namespace with a name server: a small web of real names that only what runs inside can see.
 *
 * Its loopback is its own, so that port 80 is free and nothing outside is touched. Names are answered by dnsmasq, for
 * programs that ask the system as well as for a crawl that asks a name server itself.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled } from './nginx.js';

export interface Namespace {
  /** Put before a command: then it runs inside. */
  readonly under: readonly string[];
  readonly nameServer: string;
  end(): Promise<void>;
}

const NAME_SERVER = '127.0.0.53';

/** Why none can be had here; null when one can. */
export function whyNoNamespace(): string | null {
  for (const program of ['ip', 'dnsmasq']) if (!isInstalled(program)) return `${program} is not installed`;
  const name = `orbweaver-try-${process.pid}`;
  try {
    execFileSync('ip', ['netns', 'add', name], { stdio: 'ignore' });
    execFileSync('ip', ['netns', 'delete', name], { stdio: 'ignore' });
    return null;
  } catch {
    return 'a network namespace can be made by root only';
  }
}

/** @param addresses by name; every other name does not exist. */
export async function openNamespace(prefix: string, addresses: ReadonlyMap<string, string>): Promise<Namespace> {
  const name = `orbweaver-${process.pid}`;
  const folder = join('/etc/netns', name);
  execFileSync('ip', ['netns', 'add', name]);
  const under = ['ip', 'netns', 'exec', name];
  let server: ChildProcess | null = null;
  const end = async () => {
    if (server !== null && server.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    execFileSync('ip', ['netns', 'delete', name]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    execFileSync('ip', ['netns', 'exec', name, 'ip', 'link', 'set', 'lo', 'up']);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'resolv.conf'), `nameserver ${NAME_SERVER}\n`);
    const configuration = join(prefix, 'dnsmasq.conf');
    writeFileSync(configuration, configurationOf(addresses));
    server = spawn('ip', [...under.slice(1), 'dnsmasq', '--keep-in-foreground', '-C', configuration], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return { under, nameServer: NAME_SERVER, end };
  } catch (error) {
    await end();
    throw error;
  }
}

function configurationOf(addresses: ReadonlyMap<string, string>): string {
  const settings = [
    'port=53',
    `listen-address=${NAME_SERVER}`,
    'bind-interfaces',
    'no-resolv',
    'no-hosts',
    'user=root',
  ];
  // What is not named does not exist.
  const names = [...addresses].map(([name, address]) => `host-record=${name},${address}`);
  return [...settings, 'pid-file=', 'local=/#/', ...names, ''].join('\n');
}
