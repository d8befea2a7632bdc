/**
 * From a data directory to whoever can answer for its crawl: the process that runs it, or, where none does, its store.
 */
import { resolve } from 'node:path';
import { reachControl } from '../admin/client.js';
import { type Control, ControlError } from '../admin/control.js';
import { StoreError } from '../protocols/ports.js';
import { readConfig } from './configuration.js';
import type { ConfigOptions } from './options.js';
import { commandLine } from './program.js';
import { CommandError, EXIT } from './terminal.js';

export interface DataOptions extends ConfigOptions {
  readonly data: string;
  readonly json: boolean;
}

/** A crawl that starts or ends holds the lock and does not listen: for so long it is asked again. */
const PATIENCE_MS = 10_000;
const AGAIN_MS = 100;

/** Rejects with CommandError, StoreError or ConfigError. Creates nothing. */
export async function withControl<T>(options: DataOptions, use: (control: Control) => Promise<T>): Promise<T> {
  const dataDir = resolve(options.data);
  const { holdsCrawl, openStopped } = await import('../admin/stopped.js');
  if (!holdsCrawl(dataDir)) throw noCrawl(dataDir);
  const { config } = readConfig(options);
  const clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };
  for (const givesUpAtMs = clock.monotonicMs() + PATIENCE_MS; ; ) {
    try {
      const running = await reachControl(dataDir);
      if (running !== null) return await use(running);
      const stopped = await openStopped(dataDir, config, clock);
      try {
        return await use(stopped.control);
      } finally {
        await stopped.close();
      }
    } catch (error) {
      if (!mayPass(error) || clock.monotonicMs() > givesUpAtMs) throw asCommandError(error);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** The running one only. */
export async function withRunning<T>(data: string, use: (control: Control) => Promise<T>): Promise<T> {
  const dataDir = resolve(data);
  try {
    const running = await reachControl(dataDir);
    if (running !== null) return await use(running);
  } catch (error) {
    throw asCommandError(error);
  }
  const advice = `start it with \`${commandLine('crawl')}\` or \`${commandLine('daemon')}\``;
  throw new CommandError('not_running', 'no crawl is running there', EXIT.failed, dataDir, advice);
}

function mayPass(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'store_locked';
}

function asCommandError(error: unknown): unknown {
  if (!(error instanceof ControlError)) return error;
  const exit = error.status === 400 || error.code === 'host_unknown' ? EXIT.usage : EXIT.failed;
  return new CommandError(error.code, error.message, exit, error.where, error.advice, { cause: error });
}

function noCrawl(dataDir: string): CommandError {
  const advice = `name its data directory with --data, or begin one: ${commandLine(`crawl https://example.org/ --data ${dataDir}`)}`;
  return new CommandError('no_crawl', 'there is no crawl in this data directory', EXIT.failed, dataDir, advice);
}
