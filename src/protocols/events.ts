/** What the crawl tells the outside as it happens: to the command line, to an embedding program, to tests. */
import type { Delivery } from '../domain/delivery.js';
import type { CrawlSettings } from '../domain/crawl-settings.js';
import type { HostName } from '../domain/host.js';
import type { BenchFacts } from './bench.js';
import type { ArchivePlace, PageLine, Totals } from './commit.js';
import type { Redrive, RedriveLine } from '../domain/redrive.js';
import type { RefusedSeed } from '../domain/url.js';
import type { Attempt, Code, OutcomeKind } from '../domain/outcome.js';

export type EndReason = 'done' | 'only-waiting' | 'unreachable' | 'max-pages' | 'max-seconds' | 'interrupted';

export type CrawlEvent =
  | {
      /** A visit whose outcome is committed. */
      readonly event: 'visit';
      readonly url: string;
      readonly host: HostName;
      readonly outcome: OutcomeKind;
      readonly code: Code;
      readonly status: number | null;
      readonly tier: Attempt['tier'];
      readonly bytes: number;
      readonly durationMs: number;
    }
  | {
      /** A page whose visit is committed, for whoever embeds the crawl; only where one asks. */
      readonly event: 'page';
      readonly line: PageLine;
      readonly delivery: Delivery;
      readonly place: ArchivePlace | null;
    }
  | {
      readonly event: 'seeded';
      readonly command: number;
      readonly queued: readonly string[];
      readonly known: readonly string[];
      readonly refused: readonly RefusedSeed[];
    }
  | { readonly event: 'changed'; readonly command: number; readonly settings: CrawlSettings }
  | {
      /** A redrive has come further, was cancelled or is over. */
      readonly event: 'redriven';
      /** The command of this life that it answers; null where none waits. */
      readonly command: number | null;
      /** Null: there is none that could be cancelled. */
      readonly redrive: Redrive | null;
      /** Letters that this portion took up. */
      readonly lines: readonly RedriveLine[];
    }
  /** A seed redirects to another host of its site, which the crawl may enter from now on. */
  /** A seed redirects to where the crawl may not go. */
  | { readonly event: 'redirect_refused'; readonly url: string; readonly target: string; readonly code: Code }
  | { readonly event: 'scope_widened'; readonly from: HostName; readonly to: HostName }
  | {
      readonly event: 'totals';
      readonly totals: Totals;
      readonly hostsActive: number;
      /** Candidates that were not admitted in this life of the process, by code. */
      readonly notAdmitted: Readonly<Partial<Record<Code, number>>>;
    }
  | { readonly event: 'held'; readonly why: string }
  | { readonly event: 'resumed' }
  | {
      readonly event: 'ended';
      readonly reason: EndReason;
      readonly waiting: readonly { readonly host: HostName; readonly wakeAtMs: number }[];
    }
  | { readonly event: 'drained' }
  /** The workbench's answer to a question from outside. */
  | { readonly event: 'described'; readonly query: number; readonly bench: BenchFacts };
