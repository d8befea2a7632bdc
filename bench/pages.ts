/** Starts a canned web in a child process, and an address for its names. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { LookupFunction } from 'node:net';
import type { CannedWeb } from './canned-web.js';
import type { Testimony } from './pages-server.js';

export interface CannedServer {
  readonly port: number;
  /** What it saw since it was asked last. */
  testify(): Promise<Testimony>;
  stop(): Promise<void>;
}

/** Resolves when every page is made. */
export async function startCannedServer(web: CannedWeb): Promise<CannedServer> {
  const child = fork(new URL('./pages-server.js', import.meta.url), [JSON.stringify(web)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
  });
  const exited = once(child, 'exit');
  const first = await Promise.race([once(child, 'message'), exited]);
  const [message] = first as [{ port: number } | number | null];
  if (message === null || typeof message !== 'object') throw new Error('the server of canned pages ended early');
  return {
    port: message.port,
    testify: async () => {
      const answer = once(child, 'message');
      child.send('testify');
      const [testimony] = (await answer) as [Testimony];
      return testimony;
    },
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
