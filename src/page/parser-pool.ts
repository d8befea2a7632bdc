/**
 * Parser threads as the rest of the engine sees them: a task goes in, an answer comes out, whatever the page does.
 *
 * Each thread is a line of tasks in order. A few of them stand inside the thread, so that it needn't wait for this
 * side between two pages; those behind the first are sent as copies, so that they can be sent again when the thread
 * dies. A large body is never copied: it waits until its thread is idle, and is transferred.
 *
 * Invariants:
 * 1. Every task is answered exactly once, in the order of its line, whatever the page; a line that isn't there is the
 *    caller's mistake, and the only rejection.
 * 2. A thread's death costs the one task in its hand. It is answered `worker_crashed`; the others go to the next thread.
 * 3. A task that holds its thread for more than 10 s ends it.
 * 4. Where it was a plug-in that held or ended its thread, the answer is `plugin_failed` and says which.
 */
import { Worker } from 'node:worker_threads';
import type { ParseResult, ParseTask, UnparsedPage } from '../domain/parsing.js';
import { NO_MODULES, type PlugInModules } from '../plugins/modules.js';
import type { ParsePort } from '../protocols/ports.js';
import { notePath } from './in-hand.js';
import { type PackedResult, unpacked } from './link-columns.js';
import { parse } from './parse.js';
import { NO_PLUG_INS, type PlugIns, plugInName } from './plug-ins.js';
import type { ParserThreadData } from './worker.js';

/** Lines are numbered from 0. */
export interface Parser extends ParsePort {
  /** Ends all threads; what waits is answered `interrupted`, and so is what is asked later. */
  close(): Promise<void>;
}

export interface ParserThreadsOptions {
  readonly threads: number;
  /** The compiled `worker.js`; by default the one beside this file. */
  readonly workerUrl?: URL;
  /** Obey the practice web's fault header. */
  readonly faults?: boolean;
  /** Where threads note what they have in hand; none are kept without it. */
  readonly noteDirectory?: string;
  /** Loaded in each thread. */
  readonly plugIns?: PlugInModules;
  readonly taskMsMax?: number;
  /** Heap of one thread. */
  readonly heapMegabytesMax?: number;
}

/** 2 s of work for the largest page, and much room for a machine that is busy elsewhere. */
const TASK_MS_MAX = 10_000;
/** The largest page in UTF-16, its ropes and its links, several times over. */
const HEAP_MEGABYTES_MAX = 512;
/** Tasks inside a thread: one in hand, and enough beside it to bridge a turn of this side's event loop. */
const INSIDE_MAX = 4;
/** Bodies up to this are copied. */
const COPY_BYTES_MAX = 256 * 1024;

export function createParserThreads(options: ParserThreadsOptions): Parser {
  const lines = Array.from({ length: options.threads }, (_, number) => new ThreadLine(number, options));
  return {
    parse: async (thread, task) => {
      const line = lines[thread];
      if (line === undefined) throw new RangeError(`no parser thread ${thread}`);
      return line.parse(task);
    },
    close: async () => {
      await Promise.all(lines.map((line) => line.close()));
    },
  };
}

/** The same without threads: for simulations and tools. */
export function createInlineParser(plugIns: PlugIns = NO_PLUG_INS): Parser {
  let isClosed = false;
  return {
    parse: async (_thread, task) => (isClosed ? INTERRUPTED : parse(task, undefined, plugIns)),
    close: async () => {
      isClosed = true;
    },
  };
}

const INTERRUPTED: UnparsedPage = { kind: 'unparsed', code: 'interrupted', detail: 'closed', archive: null };

interface WaitingTask {
  readonly task: ParseTask;
  readonly answer: (result: ParseResult) => void;
}

class ThreadLine {
  /** In the order in which they came; the first `inside` of them are in the thread. */
  private readonly waiting: WaitingTask[] = [];
  private inside = 0;
  private worker: Worker | null = null;
  private ending: Promise<unknown> | null = null;
  private deathReason: string | null = null;
  private deadline: NodeJS.Timeout | null = null;
  /** Which plug-in the thread is in, as it says itself; 0 for none. */
  private readonly mark = new Int32Array(new SharedArrayBuffer(4));

  /** The thread starts now: it takes a quarter of a second to load, and what comes meanwhile would stand open. */
  constructor(
    private readonly number: number,
    private readonly options: ParserThreadsOptions,
  ) {
    this.worker = this.startThread();
  }

  parse(task: ParseTask): Promise<ParseResult> {
    if (this.ending !== null) return Promise.resolve(INTERRUPTED);
    return new Promise((answer) => {
      this.waiting.push({ task, answer });
      this.feed();
    });
  }

  close(): Promise<unknown> {
    this.ending ??= this.worker?.terminate() ?? Promise.resolve();
    this.disarm();
    this.inside = 0;
    for (const { answer } of this.waiting.splice(0)) answer(INTERRUPTED);
    return this.ending;
  }

  /** Moves tasks into the thread while they fit. */
  private feed(): void {
    while (this.inside < INSIDE_MAX) {
      const next = this.waiting[this.inside];
      if (next === undefined) return;
      const isFirst = this.inside === 0;
      if (!isFirst && next.task.body.length > COPY_BYTES_MAX) return;
      this.worker ??= this.startThread();
      if (!this.send(this.worker, next, isFirst)) continue;
      if (isFirst) this.arm();
      this.inside++;
    }
  }

  /** The first is never sent twice: it answers for its thread's death. The others may be, so they go as copies. */
  private send(worker: Worker, next: WaitingTask, isFirst: boolean): boolean {
    try {
      worker.postMessage(next.task, isFirst ? transferOf(next.task.body) : []);
      return true;
    } catch (error) {
      // A body that was given away before: the line must not stand still for it.
      this.waiting.splice(this.inside, 1);
      next.answer({ kind: 'unparsed', code: 'worker_crashed', detail: String(error), archive: null });
      return false;
    }
  }

  private startThread(): Worker {
    const { workerUrl, faults, heapMegabytesMax, noteDirectory, plugIns } = this.options;
    const path = noteDirectory === undefined ? null : notePath(noteDirectory, this.number);
    const worker = new Worker(workerUrl ?? new URL('./worker.js', import.meta.url), {
      workerData: {
        faults: faults ?? false,
        notePath: path,
        plugIns: plugIns ?? NO_MODULES,
        mark: this.mark.buffer as SharedArrayBuffer,
      } satisfies ParserThreadData,
      ...execArgvBut('--input-type'),
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax ?? HEAP_MEGABYTES_MAX },
    });
    worker.on('message', (answer: PackedResult) => this.answered(unpacked(answer)));
    worker.on('error', (error) => {
      this.deathReason = error.message;
    });
    worker.on('messageerror', (error) => {
      this.deathReason = error.message;
      void worker.terminate();
    });
    // The last answers of a dying thread are delivered before this.
    worker.on('exit', (exitCode) => this.died(exitCode));
    return worker;
  }

  private answered(result: ParseResult): void {
    if (this.ending !== null) return;
    const first = this.waiting.shift();
    this.inside--;
    if (this.inside > 0) this.arm();
    else this.disarm();
    this.feed();
    first?.answer(result);
  }

  /** What was first in the thread was in its hand; what stood behind it was a copy, so the originals are here. */
  private died(exitCode: number): void {
    this.worker = null;
    if (this.ending !== null) return;
    this.disarm();
    const detail = this.deathReason ?? `parser thread ended with exit code ${exitCode}`;
    this.deathReason = null;
    const death = this.deathBy(detail);
    const inHand = this.inside > 0 ? this.waiting.shift() : undefined;
    this.inside = 0;
    this.feed();
    inHand?.answer(death);
  }

  private deathBy(detail: string): UnparsedPage {
    const mark = Atomics.exchange(this.mark, 0, 0);
    if (mark === 0) return { kind: 'unparsed', code: 'worker_crashed', detail, archive: null };
    const name = plugInName(this.options.plugIns ?? NO_MODULES, mark);
    return { kind: 'unparsed', code: 'plugin_failed', detail: `${name}: ${detail}`, archive: null };
  }

  /** The task that is first now has the whole time before it. */
  private arm(): void {
    if (this.deadline !== null) this.deadline.refresh();
    else this.deadline = setTimeout(() => this.overdue(), this.options.taskMsMax ?? TASK_MS_MAX);
  }

  private disarm(): void {
    if (this.deadline !== null) clearTimeout(this.deadline);
    this.deadline = null;
  }

  /** This side may have been held up, with the answer in its inbox: the thread is ended only if a turn brings none. */
  private overdue(): void {
    this.deadline = null;
    const first = this.waiting[0];
    const worker = this.worker;
    setImmediate(() => {
      if (first === undefined || this.waiting[0] !== first || worker === null || this.worker !== worker) return;
      this.deathReason = 'the page held its parser thread for too long';
      void worker.terminate();
    });
  }
}

/** A body that shares its buffer with others is copied, lest they lose theirs. */
function transferOf(body: Uint8Array): ArrayBuffer[] {
  const { buffer } = body;
  return buffer instanceof ArrayBuffer && buffer.byteLength === body.byteLength && body.length > 0 ? [buffer] : [];
}

/**
 * A program that was given on the command line is no module that the thread could be one of. All else is inherited, and
 * only where it has to be said is it looked at: it may hold options of the whole process, as of its heap, which a thread
 * must not be given.
 */
function execArgvBut(option: string): { readonly execArgv?: string[] } {
  const rest = process.execArgv.filter((word) => !word.startsWith(option));
  return rest.length === process.execArgv.length ? {} : { execArgv: rest };
}
