/**
 * The witness: what a server saw, one JSON line an event, by one clock.
 *
 * The clock is monotonic and counts in milliseconds since the Unix epoch (with three decimals), so that gaps are exact
 * and times can be read. Events stand in the order of their times. Lines are collected and written in blocks.
 *
 * 1. An end that the server chose (`done`, `reset`) is stamped before the last bytes are handed to the socket: no client
 *    can have seen the end earlier than the log says.
 * 2. A request has one start and at most one end.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** The headers of a request have come. */
export interface StartEvent {
  readonly e: 'S';
  /** Number of the request. */
  readonly i: number;
  readonly t: number;
  /** Host header as sent, with its port. */
  readonly h: string;
  readonly m: string;
  /** Path and query as sent. */
  readonly u: string;
  /** Number of the connection. */
  readonly c: number;
  /** The address that it came to; left out where the log can't tell. */
  readonly a?: string;
}

export interface EndEvent {
  readonly e: 'E';
  readonly i: number;
  readonly t: number;
  /** Null where no status line was sent. */
  readonly s: number | null;
  /** `done`: answered whole; `reset`: the server broke off; `abort`: the client went away first. */
  readonly how: 'done' | 'reset' | 'abort';
  /** Retry-After that was sent, in seconds. */
  readonly ra?: number;
  /** The robots.txt that was served. */
  readonly rb?: string;
  /** So many ms later it is there for the crawler: told by whoever sees both ends. */
  readonly d?: number;
}

/** The crawler was killed (K) or started (B). */
export interface MarkEvent {
  readonly e: 'K' | 'B';
  readonly t: number;
  /** Of a kill: answers that ended so many ms before may be forgotten, where it is more than a kill can undo (loss of power). */
  readonly g?: number;
}

/** Between crawler and servers nothing gets through (X), until: whoever tells of it stands outside both. */
export interface CutEvent {
  readonly e: 'X';
  readonly t: number;
  readonly until: number;
}

/**
 * The part of the crawler that counts what this host has refused has crashed (C), and may have forgotten the last answer.
 * Without a host: a part that had some host's answer in hand at this moment.
 */
export interface LapseEvent {
  readonly e: 'C';
  readonly t: number;
  readonly h: string | null;
}

export type WitnessEvent = StartEvent | EndEvent | MarkEvent | CutEvent | LapseEvent;

export interface Witness {
  start(host: string, method: string, path: string, connection: number, address?: string): number;
  end(request: number, status: number | null, how: EndEvent['how'], more: { ra?: number; rb?: string }): void;
  mark(e: MarkEvent['e'], at?: number): void;
  now(): number;
  /** Everything seen so far, as JSON lines. */
  text(): string;
  /** Brings all lines to the file. */
  flush(): void;
  close(): void;
}

const BLOCK_CHARACTERS = 65_536;
const FLUSH_INTERVAL_MS = 250;

/** Writes to `file` (begun anew), or keeps the lines in memory where none is named. */
export function openWitness(file?: string): Witness {
  const descriptor = file === undefined ? undefined : openSync(file, 'w');
  let block = '';
  let kept = '';
  let requests = 0;
  let closed = false;

  const flush = (): void => {
    if (block === '' || closed) return;
    if (descriptor === undefined) kept += block;
    else writeWhole(descriptor, block);
    block = '';
  };
  const write = (line: string): void => {
    block += `${line}\n`;
    if (block.length >= BLOCK_CHARACTERS) flush();
  };
  const interval = setInterval(flush, FLUSH_INTERVAL_MS);
  interval.unref();

  return {
    start(host, method, path, connection, address) {
      const i = ++requests;
      const at = address === undefined ? '' : `,"a":${JSON.stringify(address)}`;
      write(
        `{"e":"S","i":${i},"t":${stamp()},"h":${JSON.stringify(host)},"m":"${method}","u":${JSON.stringify(path)},"c":${connection}${at}}`,
      );
      return i;
    },
    end(i, status, how, { ra, rb }) {
      const retryAfter = ra === undefined ? '' : `,"ra":${ra}`;
      const robots = rb === undefined ? '' : `,"rb":${JSON.stringify(rb)}`;
      write(`{"e":"E","i":${i},"t":${stamp()},"s":${status},"how":"${how}"${retryAfter}${robots}}`);
    },
    mark: (e, at) => write(`{"e":"${e}","t":${at?.toFixed(3) ?? stamp()}}`),
    now,
    text() {
      flush();
      return file === undefined ? kept : readFileSync(file, 'utf8');
    },
    flush,
    close() {
      if (closed) return;
      flush();
      closed = true;
      clearInterval(interval);
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

/** The events of a log, in its order. A last line that was cut is left out; any other broken line throws. */
export function eventsOf(text: string): WitnessEvent[] {
  const lines = text.split('\n');
  lines.pop();
  return lines.map((line) => JSON.parse(line) as WitnessEvent);
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

function stamp(): string {
  return now().toFixed(3);
}

function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
