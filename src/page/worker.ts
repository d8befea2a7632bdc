/**
 * The inside of a parser thread: a task comes, its answer goes, in order.
 *
 * Bodies come by transfer or as a copy; the large parts of an answer go by transfer.
 */
import { writeSync } from 'node:fs';
import { parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import type { ParseResult, ParseTask } from '../domain/parsing.js';
import type { PlugInModules } from '../plugins/modules.js';
import { firstHeader } from './headers.js';
import { openNote } from './in-hand.js';
import { packed } from './link-columns.js';
import { parse } from './parse.js';
import { loadPlugIns } from './plug-ins.js';

/** What a thread is told when it begins. */
export interface ParserThreadData {
  /** Obey the practice web's fault header. Never in a crawl of anything else. */
  readonly faults: boolean;
  /** The file of its note; null: it keeps none. */
  readonly notePath: string | null;
  readonly plugIns: PlugInModules;
  /** One number, shared: which plug-in has the thread in hand, 0 for none. */
  readonly mark: SharedArrayBuffer;
}

const FAULT_HEADER = 'x-orbweaver-fault';

const port = parentPort;
const { faults, notePath, plugIns: modules, mark } = workerData as ParserThreadData;
const note = notePath === null ? null : openNote(notePath);
const inHand = new Int32Array(mark);
const plugIns = await loadPlugIns(modules, (plugIn) => void Atomics.store(inHand, 0, plugIn));

port?.on('message', (task: ParseTask) => {
  note?.begin(task.url);
  if (faults) obeyFault(task);
  const result = parse(task, undefined, plugIns);
  note?.end();
  port.postMessage(packed(result), transfersOf(result));
});

function transfersOf(result: ParseResult): TransferListItem[] {
  const transfers: TransferListItem[] = [];
  if (result.archive !== null) transfers.push(result.archive.bytes.buffer as ArrayBuffer);
  if (result.kind !== 'parsed') return transfers;
  if (result.decoded !== null) transfers.push(result.decoded.buffer as ArrayBuffer);
  const body = result.kept?.body ?? null;
  if (body !== null) transfers.push(body.buffer as ArrayBuffer);
  return transfers;
}

/** The thread dies as by a fault of its own, in the middle of its task. */
function obeyFault(task: ParseTask): void {
  if (firstHeader(task.headers, FAULT_HEADER) !== 'worker-exit') return;
  writeSync(2, `practice fault: parser thread exits on ${task.url}\n`);
  process.exit(70);
}
