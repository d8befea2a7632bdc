/**
 * The options that say which dead letters are meant: the same for listing them and for bringing them back, so that what
 * was looked at is what is acted on.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { nearestNames } from '../config/nearest.js';
import { CODES, type Code } from '../domain/outcome.js';
import type { DeadFilter } from '../domain/redrive.js';
import { CommandError, EXIT } from './terminal.js';

export interface DeadFilterOptions {
  readonly host?: string;
  readonly cause?: string;
  readonly code?: Code;
  /** Milliseconds, as all ages. */
  readonly olderThan?: number;
  readonly newerThan?: number;
}

export function withDeadFilter(command: Command): Command {
  return command
    .addOption(new Option('--host <name>', 'of this host only').argParser(readHost))
    .addOption(new Option('--cause <text>', 'whose cause holds this text').argParser(readCause))
    .addOption(new Option('--code <code>', 'whose last attempt had this code').argParser(readCode))
    .option('--older-than <age>', 'given up longer ago than this, as in 30m, 2h or 3d', readAge)
    .option('--newer-than <age>', 'given up no longer ago than this', readAge);
}

/** Throws CommandError `filter_contradictory`. */
export function deadFilterOf(options: DeadFilterOptions, nowWallMs: number, command: string): DeadFilter {
  const { host, cause, code, olderThan, newerThan } = options;
  if (olderThan !== undefined && newerThan !== undefined && olderThan >= newerThan) {
    const what = 'nothing was given up both longer ago than --older-than and no longer ago than --newer-than';
    const advice = 'let --older-than be the smaller one: the letters between the two ages are meant then';
    throw new CommandError('filter_contradictory', what, EXIT.usage, command, advice);
  }
  return {
    host: host ?? null,
    cause: cause ?? null,
    code: code ?? null,
    beforeMs: olderThan === undefined ? null : nowWallMs - olderThan,
    sinceMs: newerThan === undefined ? null : nowWallMs - newerThan,
  };
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readAge(text: string): number {
  const [, digits, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit ?? ''];
  if (digits === undefined || unitMs === undefined)
    throw new InvalidArgumentError('expected an age as in 30m, 2h or 3d.');
  return Number(digits) * unitMs;
}

const CAUSE_CHARACTERS_MAX = 300;

function readCause(text: string): string {
  if (text.length > 0 && text.length <= CAUSE_CHARACTERS_MAX) return text;
  throw new InvalidArgumentError(`expected a text of 1 to ${CAUSE_CHARACTERS_MAX} characters.`);
}

function readHost(text: string): string {
  const host = text.toLowerCase().replace(/\.$/, '');
  if (host.length <= 255 && /^[a-z0-9._:[\]-]+$/.test(host)) return host;
  throw new InvalidArgumentError('expected a host name alone, as in www.example.org.');
}

function readCode(text: string): Code {
  if (Object.hasOwn(CODES, text)) return text as Code;
  const meant = nearestNames(text, Object.keys(CODES)).join(', ');
  const hint = meant === '' ? '' : ` Did you mean ${meant}?`;
  throw new InvalidArgumentError(`there is no such code.${hint} docs/dead-letters.md names those of dead letters.`);
}
