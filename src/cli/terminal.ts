/**
 * What commands may do to the outside of the process: lines out, notes beside them, and the ways to end.
 *
 * Standard output belongs to results: with `--json` one object a line and nothing else. Everything that is said about
 * the run goes to standard error. Much of both was written by the sites: whatever moves a terminal is shown, not sent.
 */
import type { Command } from 'commander';

/** Exit codes. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface Terminal {
  /** A line of the result. */
  print(line: string): void;
  /** A line about the run. */
  note(line: string): void;
}

/** One file a command. `ended` takes the exit code of an end without a throw; where it is not called the code is 0. */
export type CommandFactory = (terminal: Terminal, ended: (exit: ExitCode) => void) => Command;

/** An end that was foreseen: what happened, where, and what to do about it. */
export class CommandError extends Error {
  constructor(
    /** Stable, as in `config_invalid`. */
    readonly code: string,
    message: string,
    readonly exit: ExitCode = EXIT.failed,
    readonly where: string | null = null,
    readonly advice: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CommandError';
  }
}

/** One object a line, as `--json` promises. */
export function printJson(terminal: Terminal, value: object): void {
  terminal.print(JSON.stringify(value));
}

/**
 * Standard output and standard error. A reader that leaves (`| head`) ends the output quietly; where it can't be
 * written for another reason, that is said once, and `onLost` is called.
 */
export function processTerminal(onLost: () => void): Terminal {
  let isRead = true;
  const note = (line: string) => void process.stderr.write(`${shown(line)}\n`);
  process.stderr.on('error', () => {}); // there is nobody left to tell
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isRead) return;
    isRead = false;
    if (error.code === 'EPIPE') return;
    note(`orbweaver: standard output can't be written: ${error.message} [output_unwritable]`);
    note('  do: make room, or send the output elsewhere');
    onLost();
  });
  return { print: (line) => void (isRead && process.stdout.write(`${shown(line)}\n`)), note };
}

/**
 * A line with its controls escaped as JSON does it, so that one object a line stays one; line ends and tabs are ours.
 * Beside C0, DEL and C1 these are the marks that turn the direction of a text.
 */
export function shown(line: string): string {
  return line.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const CONTROLS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

/** The first of SIGINT and SIGTERM; from then on, a second one ends the process at once. */
export function untilInterrupted(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const heard = (signal: NodeJS.Signals) => {
      process.off('SIGINT', heard);
      process.off('SIGTERM', heard);
      resolve(signal);
    };
    process.on('SIGINT', heard);
    process.on('SIGTERM', heard);
  });
}
