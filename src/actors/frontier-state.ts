/** What the rooms of the frontier share: what it is started with, what it holds, and what a message has begun. */
import type { Bloom } from '../domain/bloom.js';
import type { ClassQueues } from '../domain/class-queues.js';
import type { DueHeap } from '../domain/due-heap.js';
import type { ConfiguredRules, CrawlSettings } from '../domain/crawl-settings.js';
import type { HostName } from '../domain/host.js';
import type { Code } from '../domain/outcome.js';
import type { PriorityClass } from '../domain/record.js';
import type { Redrive } from '../domain/redrive.js';
import type { UrlKey } from '../domain/url.js';
import type { CrawlRules } from '../policy/admission.js';
import type { UrlFilter } from '../plugins/url-filter.js';
import * as addresses from '../protocols/addresses.js';
import type { Part, Totals } from '../protocols/commit.js';
import { type Effect, send } from '../protocols/effects.js';
import type { EndReason } from '../protocols/events.js';
import { record } from '../protocols/recorder.js';

export interface Props {
  /** The rules that this run is configured with. */
  readonly configured: ConfiguredRules;
  /** Of the program that runs the crawl. */
  readonly filter?: UrlFilter;
  /** As they are stored. */
  readonly settings: CrawlSettings;
  readonly seen: Bloom;
  readonly totals: Totals;
  readonly nextSequence: number;
  /** Redrives that an earlier life has left, and the number of the newest that there was. */
  readonly redrives: readonly Redrive[];
  readonly lastRedrive: number;
  /** Hosts that may be at work at once: so many at first, and up to so many while fetch slots are idle. */
  readonly activeMin: number;
  readonly activeMax: number;
  /** Visits after which the crawl ends; null for no bound. */
  readonly pagesMax: number | null;
  /** The crawl ends when nothing falls due within this; null: it goes on for ever. */
  readonly waitMs: number | null;
}

type Life =
  | { readonly phase: 'listing' }
  | { readonly phase: 'crawling' }
  | { readonly phase: 'ended'; readonly reason: EndReason };

export type Way =
  | { readonly is: 'open' | 'cut_off' }
  /** No host was reached in this life: the crawl waits so long for the first one (monotonic). */
  | { readonly is: 'never_open'; readonly untilMs: number };

/** A redrive that is not over. */
export interface Going {
  readonly redrive: Redrive;
  /** The command that wished it, in this life of the process. */
  readonly command: number | null;
  readonly phase: 'waiting' | 'reading' | 'committing';
  /** When the next letters may be taken up; monotonic. */
  readonly dueAtMs: number;
  /** The command that cancels it; null while none does. */
  readonly ending: number | null;
}

/** What the message in hand has changed and a crash must undo, or do again. */
interface Journal {
  keys: UrlKey[];
  woken: HostName[];
  readonly unacknowledged: number;
  readonly visits: number;
  readonly life: Life;
  readonly settings: CrawlSettings;
  readonly rules: CrawlRules;
  readonly redrives: ReadonlyMap<number, Going>;
}

export interface State {
  readonly props: Props;
  settings: CrawlSettings;
  /** By the settings; replaced as a whole. */
  rules: CrawlRules;
  /** Candidates that were not admitted, by code. */
  readonly notAdmitted: Map<Code, number>;
  /** Times that the URL filter failed. */
  filterFailures: number;
  life: Life;
  readonly pending: Set<UrlKey>;
  sequence: number;
  /** Parts that were sent to the recorder and not yet acknowledged. */
  unacknowledged: number;
  /** Visits that were acknowledged in this life of the process. */
  visits: number;
  totals: Totals;
  readonly front: ClassQueues;
  /** Hosts at work, with the number of their newest wake. */
  readonly active: Map<HostName, number>;
  /** Hosts that may be at work now. */
  activeLimit: number;
  /** Whether it is being found out if slots are idle. */
  widening: boolean;
  lastWake: number;
  /** Resting hosts and when they wake by themselves (wall clock). */
  readonly wakeAt: Map<HostName, number>;
  /** Those of them that have rows to ask for when they wake: it is their delay that they wait for. The class of the best. */
  readonly delayed: Map<HostName, PriorityClass>;
  readonly dues: DueHeap;
  /** Hosts that wake only to see whether their robots.txt still blocks what it blocks: nothing of theirs waits. */
  readonly watching: Set<HostName>;
  wakeTimerAtMs: number | null;
  /** Whether hosts can be reached at all (B5), as the workbench said last. */
  way: Way;
  /** By number; replaced as a whole. */
  redrives: ReadonlyMap<number, Going>;
  lastRedrive: number;
  journal: Journal;
}

export function begin(state: State): void {
  const { unacknowledged, visits, life, settings, rules, redrives } = state;
  state.journal = { keys: [], woken: [], unacknowledged, visits, life, settings, rules, redrives };
}

export function toRecorder(state: State, part: Part): Effect {
  state.unacknowledged += 1;
  return send(addresses.recorder, record([part]));
}
