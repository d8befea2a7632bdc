/** Starts the canned web in a child process, and an address for its names. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { LookupFunction } from 'node:net';

export interface CannedServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Resolves when every page is made. */
export async function startCannedServer(): Promise<CannedServer> {
  const child = fork(new URL('./pages-server.js', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  const first = await Promise.race([once(child, 'message'), exited]);
  const [message] = first as [{ port: number } | number | null];
  if (message === null || typeof message !== 'object') throw new Error('the server of canned pages ended early');
  return {
    port: message.port,
    stop: async () => {
      child.disconnect();
      await exited;
    },
  };
}

/** Every name is on loopback. */
export const loopbackLookup: LookupFunction = (_name, options, done) => {
  if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
  else done(null, '127.0.0.1', 4);
};
