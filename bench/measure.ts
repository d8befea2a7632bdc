/**
 * What benches share: CPU time by stage, the loop's delay, peak memory, and a table of it.
 *
 * CPU time is of the whole process, all threads. A stage is synchronous work on the main thread, taken as the time
 * between its two ends; what no stage claims (sockets, promises, garbage collection, other threads) is the rest.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface Measured {
  readonly seconds: number;
  /** Of the whole process, all threads. */
  readonly cpuMicros: number;
  /** How long the main thread's loop had work in hand, whether it got a core or not. */
  readonly activeMicros: number;
  readonly loopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly peakRssBytes: number;
  readonly stagesMicros: Readonly<Record<string, number>>;
}

export interface Stages {
  /** Runs `work` now and counts its time; stages must not nest. */
  time<T>(stage: string, work: () => T): T;
}

/** Measures `work`, which gets the stages to count in. */
export async function measure(work: (stages: Stages) => Promise<void>): Promise<Measured> {
  const stagesMs = new Map<string, number>();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const loopBefore = performance.eventLoopUtilization();
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await work({
    time: (stage, run) => {
      const fromMs = performance.now();
      const result = run();
      stagesMs.set(stage, (stagesMs.get(stage) ?? 0) + performance.now() - fromMs);
      return result;
    },
  });
  const seconds = (performance.now() - startedMs) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  const { active } = performance.eventLoopUtilization(loopBefore);
  delay.disable();
  const milliseconds = (nanos: number) => Math.round(nanos / 1e4) / 100;
  return {
    seconds,
    cpuMicros: cpu.user + cpu.system,
    activeMicros: active * 1_000,
    loopDelayMs: {
      p50: milliseconds(delay.percentile(50)),
      p99: milliseconds(delay.percentile(99)),
      max: milliseconds(delay.max),
    },
    peakRssBytes: process.resourceUsage().maxRSS * 1_024,
    stagesMicros: Object.fromEntries([...stagesMs].map(([stage, ms]) => [stage, ms * 1_000])),
  };
}

/**
 * The parts of a page's CPU time, the rest under `rest`; in µs. On a machine with other work a stage lasts longer than
 * it computes: then all are shortened alike, by how much of its active time the process had a core.
 */
export function perPage(measured: Measured, pages: number, rest: string): Readonly<Record<string, number>> {
  const onCore = Math.min(1, measured.cpuMicros / measured.activeMicros);
  const stages = Object.entries(measured.stagesMicros).map(([stage, micros]) => [stage, micros * onCore] as const);
  const claimed = stages.reduce((sum, [, micros]) => sum + micros, 0);
  const parts = [[rest, measured.cpuMicros - claimed] as const, ...stages];
  return Object.fromEntries(parts.map(([stage, micros]) => [stage, round(micros / pages)]));
}

/** What is told of any run over pages. */
export function figuresOf(measured: Measured, pages: number): Readonly<Record<string, number>> {
  return {
    pagesPerSecond: round(pages / measured.seconds),
    cpuMicrosPerPage: round(measured.cpuMicros / pages),
    pagesPerCpuSecond: round(pages / (measured.cpuMicros / 1e6)),
    loopDelayMsP50: measured.loopDelayMs.p50,
    loopDelayMsP99: measured.loopDelayMs.p99,
    loopDelayMsMax: measured.loopDelayMs.max,
    peakRssMebibytes: round(measured.peakRssBytes / 2 ** 20),
  };
}

/** Lines of aligned columns: the first to the left, the others to the right. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const cells = rows.map((row) => row.map(String));
  const widths = cells.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)),
    [],
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return cells.map((row) => line(row).trimEnd()).join('\n');
}

/** Median, least and greatest of repeated figures. */
export function spread(figures: readonly number[]): {
  readonly median: number;
  readonly min: number;
  readonly max: number;
} {
  const sorted = [...figures].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const lower = sorted.length % 2 === 1 ? upper : (sorted[middle - 1] ?? Number.NaN);
  return { median: (lower + upper) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

export function round(value: number, digits = 1): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
