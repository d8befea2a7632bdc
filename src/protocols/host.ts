/** What may be said to a host actor: the owner of one host's back queue, delay policy and breaker. */
import type { FetchResult } from '../domain/fetching.js';
import type { ParseResult } from '../domain/parsing.js';
import type { HostLoaded, QueueRead, Resolved } from './effects.js';
import type { Permit, PermitNumber } from './workbench.js';

export type Message =
  | Wake
  | Fenced
  | HostLoaded
  | QueueRead
  | Resolved
  | Granted
  | Fetched
  | Parsed
  | Recorded
  | { readonly type: 'lookAgain' }
  | { readonly type: 'visitLost'; readonly permit: PermitNumber }
  | { readonly type: 'idleDue' };

/** There is work: new rows, or the time has come. */
export interface Wake {
  readonly type: 'wake';
  readonly wake: number;
}

/** Everything that an earlier incarnation wished to be recorded is in the store. */
export interface Fenced {
  readonly type: 'fenced';
  readonly epoch: number;
}

export interface Granted {
  readonly type: 'granted';
  readonly permit: Permit;
}

/** From the fetcher. */
export interface Fetched {
  readonly type: 'fetched';
  readonly permit: PermitNumber;
  readonly result: FetchResult;
}

/** From the parser. */
export interface Parsed {
  readonly type: 'parsed';
  readonly permit: PermitNumber;
  readonly result: ParseResult;
}

/** These wishes of this host are in the store. */
export interface Recorded {
  readonly type: 'recorded';
  readonly tickets: readonly number[];
}
