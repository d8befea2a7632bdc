/**
 * The parsers in simulated time: the real parsing, inline, as an event that takes a seeded while.
 *
 * One task a thread at a time is the engine's own rule; here a second one on a busy thread waits, as it would on a
 * real one. A poison task kills its worker every time, which the engine must outlive.
 */
import type { ParseResult, ParseTask } from '../domain/parsing.js';
import type { ParsePort } from '../protocols/ports.js';
import type { Owner, Simulation } from './events.js';

export interface SimulatedParserOptions {
  readonly parse: (task: ParseTask) => ParseResult;
  /** Tasks whose worker dies of them. */
  readonly isPoison: (task: ParseTask) => boolean;
}

export interface SimulatedParsers {
  readonly port: ParsePort;
  /** How many workers have died of each URL. */
  readonly crashes: ReadonlyMap<string, number>;
}

export function createParsers(simulation: Simulation, options: SimulatedParserOptions): SimulatedParsers {
  return new ParsersAtWork(simulation, options);
}

class ParsersAtWork implements SimulatedParsers {
  readonly crashes = new Map<string, number>();
  readonly port: ParsePort = { parse: (thread, task) => this.#parse(thread, task) };
  readonly #simulation: Simulation;
  readonly #options: SimulatedParserOptions;
  readonly #busyUntilMs = new Map<string, number>();
  readonly #random;

  constructor(simulation: Simulation, options: SimulatedParserOptions) {
    this.#simulation = simulation;
    this.#options = options;
    this.#random = simulation.random.fork('parsers');
  }

  #parse(thread: number, task: ParseTask): Promise<ParseResult> {
    const { owner, nowMs } = this.#simulation;
    const endMs = Math.max(nowMs, this.#busyUntilMs.get(threadOf(owner, thread)) ?? 0) + this.#durationMs();
    this.#busyUntilMs.set(threadOf(owner, thread), endMs);
    return new Promise((resolve) => {
      const end = (): void => resolve(this.#resultOf(task));
      this.#simulation.after(endMs - nowMs, end, { owner, label: `parse ${task.url}` });
    });
  }

  #resultOf(task: ParseTask): ParseResult {
    if (!this.#options.isPoison(task)) return this.#options.parse(task);
    this.crashes.set(task.url, (this.crashes.get(task.url) ?? 0) + 1);
    return { kind: 'unparsed', code: 'worker_crashed', detail: 'the worker died', archive: null };
  }

  /** A few milliseconds; one in fifty takes a good part of a second. */
  #durationMs(): number {
    return this.#random.chance(0.02) ? this.#random.span(100, 900) : this.#random.span(0.3, 12);
  }
}

function threadOf(owner: Owner, thread: number): string {
  return `${owner}/${thread}`;
}
