/** What may be said to the workbench: gates and permits. It alone says who may be asked now. */
import type { CrawlRules } from '../policy/admission.js';
import type { VettedAddress } from '../domain/fetching.js';
import type { HostName, Origin } from '../domain/host.js';
import type { PriorityClass } from '../domain/record.js';
import type { Tier } from '../domain/tier.js';
import type { BackendWord } from '../policy/backend-breaker.js';
import type { Notice, Pressure, SetAside } from './effects.js';

/** Why permits are held while an operator has paused the crawl. */
export const PAUSED = 'paused';
/** Why they are while whoever embeds the crawl has not taken the pages that are there. */
export const CONSUMER = 'consumer';
/** Why they are while hardly any host can be reached (B5): all but one probe at a time. */
export const EGRESS = 'most hosts can not be reached: the fault seems to be ours';

/** Names a request from its permit to its end. Grows, never comes twice in the life of a process. */
export type PermitNumber = number;

/** What a page is asked for as: for the first time since it was admitted, or once more after a delivery that failed. */
export type DeliveryKind = 'first' | 'retry';

/** The right to start one request to one host at one vetted address. */
export interface Permit {
  readonly number: PermitNumber;
  readonly host: HostName;
  readonly address: VettedAddress;
  readonly tier: Tier;
  /** The slot in the pool of its tier. */
  readonly fetcher: number;
  /** Fetchers refuse it from then on. */
  readonly expiresAtMs: number;
  /** When the request must be over; without a word by then the workbench counts it as ended. */
  readonly deadlineMs: number;
  /** What it was asked for; one for a retry is good for anything else, too. Null: no page. */
  readonly delivery: DeliveryKind | null;
  /** What the crawl may enter: the host's last look is by these. */
  readonly rules: CrawlRules;
}

/** How a host wants to be asked next. */
export interface Ask {
  readonly host: HostName;
  readonly address: VettedAddress;
  /** Under which the address has its clock; null where it is exempt. */
  readonly addressClock: string | null;
  /** In which way it wants to ask: it waits for a slot of that kind alone. */
  readonly tier: Tier;
  readonly priority: PriorityClass;
  /** Null: a robots.txt. */
  readonly delivery: DeliveryKind | null;
  /** The least delay that holds for this host, for a gate that has no history (after an unclean start). */
  readonly delayMs: number;
}

/** What a finished request means for the gate. It only ever raises the time at which the gate opens. */
export interface Verdict {
  readonly permit: PermitNumber;
  /** After the end of the request. */
  readonly closedForMs: number;
}

export type Message =
  | Settle
  | Returned
  | Ended
  | Closed
  | Describe
  | Overdue
  | { readonly type: 'egressDue' }
  | { readonly type: 'hostRestarted'; readonly host: HostName }
  | { readonly type: 'gateDue' }
  | { readonly type: 'sweepDue' }
  /** How many more hosts could be asked at once? Answered by `Frontier.spareCounted`. */
  | { readonly type: 'countSpare' }
  | { readonly type: 'hold'; readonly why: string }
  | { readonly type: 'release'; readonly why: string }
  /** What the crawl may enter, from now on. */
  | { readonly type: 'rules'; readonly rules: CrawlRules }
  | { readonly type: 'drain' }
  | SetAside
  | Notice
  | Pressure;

/** The verdict on the last request and the wish for the next, in one. Answered by `Host.granted`, in its time, or at once by `Host.declined` or `Host.retriesHeld`. */
export interface Settle {
  readonly type: 'settle';
  readonly host: HostName;
  readonly verdict: Verdict | null;
  /** Null: nothing was learned of our way to the host. */
  readonly network: NetworkWord | null;
  readonly ask: Ask | null;
}

/** Whether the host was reached (B5). Of what was not the workbench says whose fault that is, by `Host.blamed`. */
export type NetworkWord =
  | { readonly reach: 'reached'; readonly origin: Origin }
  | { readonly reach: 'unreached'; readonly about: Doubt };

/** What it is that failed: a request, the resolution of the host's name, an errand that another host runs for it. */
export type Doubt =
  | { readonly what: 'visit'; readonly permit: PermitNumber }
  | { readonly what: 'name' }
  | { readonly what: 'errand'; readonly origin: Origin };

/** An errand was not answered in time: is the host to blame that it was sent to, or were permits held back? Answered by `Host.blamed`. */
export interface Overdue {
  readonly type: 'overdue';
  readonly host: HostName;
  readonly origin: Origin;
  /** Monotonic. */
  readonly sinceMs: number;
}

/** A permit that the host had no use for. The gate opens again at once. */
export interface Returned {
  readonly type: 'returned';
  readonly permit: PermitNumber;
  readonly host: HostName;
}

/** From the fetcher: the socket is idle or destroyed. */
export interface Ended {
  readonly type: 'ended';
  readonly permit: PermitNumber;
  readonly host: HostName;
  readonly tier: Tier;
  readonly slot: number;
  /** Bytes of body that are now in the engine's hands. */
  readonly bytes: number;
  /** What its end says of the browser service (B1); null where it says nothing. */
  readonly backend: BackendWord | null;
}

/** Asks how things stand. Answered by the event `described`, with the same number. */
export interface Describe {
  readonly type: 'describe';
  readonly query: number;
  /** Whose gates are told. */
  readonly hosts: readonly HostName[];
}

/** Visits that are in the store, or given up: no longer open. */
export interface Closed {
  readonly type: 'closed';
  readonly visits: readonly PermitNumber[];
}
