/** What may be said to a parser: bodies to be read. */
import type { HostName } from '../domain/host.js';
import type { ParseTask } from '../domain/parsing.js';
import type { ParseEnded } from './effects.js';
import type { PermitNumber } from './workbench.js';

export type Message = Read | ParseEnded;

export interface Read {
  readonly type: 'read';
  readonly host: HostName;
  readonly permit: PermitNumber;
  readonly task: ParseTask;
}
