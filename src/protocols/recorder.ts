/** What may be said to the recorder, the only writer of the store. */
import type { HostName } from '../domain/host.js';
import type { Part } from './commit.js';
import type { Committed, CommitFailed, Reopened, ReopenFailed } from './effects.js';

export type Message =
  | Record
  | Fence
  | { readonly type: 'flushDue' }
  | { readonly type: 'syncDue' }
  | { readonly type: 'reopenDue' }
  | Committed
  | CommitFailed
  | Reopened
  | ReopenFailed;

/** Parts to be written, each whole, in this order. Acknowledged to the frontier, the workbench and the hosts. */
export interface Record {
  readonly type: 'record';
  readonly parts: readonly Part[];
}

/** Tell this host `fenced` when everything recorded before is in the store. */
export interface Fence {
  readonly type: 'fence';
  readonly host: HostName;
  readonly epoch: number;
}

export function record(parts: readonly Part[]): Record {
  return { type: 'record', parts };
}

export function fence(host: HostName, epoch: number): Fence {
  return { type: 'fence', host, epoch };
}
