/** What may be said to the frontier, the priority actor: admission, front queues, fan-out to hosts. */
import type { Chain } from '../domain/chain.js';
import type { HostName } from '../domain/host.js';
import type { PriorityClass } from '../domain/record.js';
import type { RedriveWish } from '../domain/redrive.js';
import type { Candidate, RefusedSeed } from '../domain/url.js';
import type { RulesInForce } from '../policy/last-look.js';
import type { CommitReceipt, HostPart, Part } from './commit.js';
import type { HostsListed, RedrivableRead, SetAside } from './effects.js';

export type Message =
  | Seed
  | Change
  | RedriveDead
  | CancelRedrive
  | RedrivableRead
  | { readonly type: 'redriveDue'; readonly redrive: number }
  | Visited
  | FenceFor
  | Rested
  | Recorded
  | HostsListed
  | SetAside
  | StoreReopened
  | Egress
  | { readonly type: 'egressDue' }
  | { readonly type: 'wakeDue' }
  | { readonly type: 'widenDue' }
  | SpareCounted
  | { readonly type: 'listDue' };

/** All seeds of one command. Answered by the event `seeded`, after their commit. */
export interface Seed {
  readonly type: 'seed';
  readonly command: number;
  /** Fetch those that are known already once more; what is in a queue is left as it is. */
  readonly again: boolean;
  readonly candidates: readonly Candidate[];
  readonly refused: readonly RefusedSeed[];
}

/** Dead letters are to be brought back. Answered by the event `redriven`, after its first commit, and told by it after each further one. */
export interface RedriveDead {
  readonly type: 'redriveDead';
  readonly command: number;
  readonly wish: RedriveWish;
}

/** A redrive is to go no further. Answered by the event `redriven`, after its commit; what it has brought back stays so. */
export interface CancelRedrive {
  readonly type: 'cancelRedrive';
  readonly command: number;
  readonly redrive: number;
}

/** What a command changes of the crawl. Answered by the event `changed`, after its commit. */
export interface Change {
  readonly type: 'change';
  readonly command: number;
  readonly change: RulesChange;
}

export interface RulesChange {
  /** Patterns that are excluded from now on, beside those that are. */
  readonly exclude?: readonly string[];
  /** Patterns that no longer are. What was left for them comes back only when it is found or seeded again. */
  readonly admit?: readonly string[];
  readonly paused?: boolean;
}

/** A host's wish to be recorded, with the links and redirect targets that came with it. */
export interface Visited {
  readonly type: 'visited';
  readonly part: HostPart;
  /** What the candidates were found on; null when there are none. */
  readonly found: Found | null;
}

export interface Found {
  readonly via: string;
  readonly hopPath: string;
  readonly depth: number;
  readonly seedRedirect: boolean;
  readonly candidates: readonly Candidate[];
  /** Goes with a redirect's target; null for links. */
  readonly chain: Chain | null;
  /**
   * What robots.txt says on the finder's own host, by the rules in force there. Most links are known already, so that
   * the few which are not are looked at where that is known.
   */
  readonly robots: readonly RulesInForce[];
}

/** Passed on to the recorder in its place in the order: for a host that starts again after a crash. */
export interface FenceFor {
  readonly type: 'fenceFor';
  readonly host: HostName;
  readonly epoch: number;
}

/** The host has nothing that it can do now. It may be woken, or wakes by its own time. */
export interface Rested {
  readonly type: 'rested';
  readonly host: HostName;
  /** The newest wake that it has seen: a rest that crossed a later wake is void. */
  readonly wake: number;
  /** Best class of the ready rows that it leaves behind (its quota is used up, or it has to wait long). */
  readonly left: PriorityClass | null;
  readonly wakeAtMs: number | null;
}

/** From the recorder, once a batch. */
export interface Recorded {
  readonly type: 'recorded';
  readonly parts: readonly Part[];
  readonly receipt: CommitReceipt;
}

/** From the workbench: fetch slots that could be taken this moment, while no host asks for one. */
export interface SpareCounted {
  readonly type: 'spareCounted';
  readonly slots: number;
}

/** From the recorder: rows may have been queued again that nobody was told of. What is numbered next stands behind them. */
export interface StoreReopened {
  readonly type: 'storeReopened';
  readonly nextSequence: number;
}

/** From the workbench (B5). */
export interface Egress {
  readonly type: 'egress';
  /** `cut_off`: hardly any host can be reached; `never_open`: nor was any reached in this life. */
  readonly way: 'open' | 'cut_off' | 'never_open';
}

export function visited(part: HostPart, found: Found | null): Visited {
  return { type: 'visited', part, found };
}
