/** What a crawler tells as it happens, and who listens. A listener that throws is told of by `error` and stops nobody. */
import type { Page } from './page.js';
import type { CrawlSummary } from './summary.js';

export interface CrawlerEvents {
  /** A visit whose outcome is committed, whatever it is. */
  readonly visit: VisitEvent;
  /** A page whose visit is committed. Beside iteration and `onPage`, and without their back-pressure. */
  readonly page: Page;
  /** No request begins. The reason: `paused`, `consumer` (pages are not being taken), or what the store says. */
  readonly held: { readonly why: string };
  /** Nothing holds requests any more. */
  readonly resumed: Record<never, never>;
  /** A command's seeds are committed. */
  readonly seeded: {
    readonly queued: readonly string[];
    readonly known: readonly string[];
    readonly refused: readonly { readonly url: string; readonly code: string; readonly detail?: string }[];
  };
  /** A seed redirects to another host of its site, which the crawl may enter from now on. */
  readonly scope_widened: { readonly from: string; readonly to: string };
  /** Everything is closed. */
  readonly ended: CrawlSummary;
  /** Something went wrong that an operator would want to know. The crawl goes on, unless `ended` says otherwise. */
  readonly error: ErrorEvent;
}

export interface VisitEvent {
  readonly url: string;
  readonly host: string;
  /** What it led to: `fetched`, `unchanged`, `redirected`, `missing`, `failed` … */
  readonly outcome: string;
  /** Which case of it: the codes are listed in docs/outputs.md. */
  readonly code: string;
  /** Of HTTP; null when none came. */
  readonly status: number | null;
  readonly tier: 1 | 2 | 3;
  /** Of the body, as they came. */
  readonly bytes: number;
  readonly durationMs: number;
}

export interface ErrorEvent {
  /** Stable: `plugin_failed`, `consumer_failed`, `listener_failed`, or the name of an event of the log. */
  readonly code: string;
  readonly message: string;
  readonly url: string | null;
}

export type EventName = keyof CrawlerEvents;

export type Listener<Name extends EventName> = (event: CrawlerEvents[Name]) => void;

type Listeners = { [Name in EventName]?: Set<Listener<Name>> };

export class Emitter {
  readonly #listeners: Listeners = {};
  readonly #onThrow: (event: EventName, error: unknown) => void;

  constructor(onThrow: (event: EventName, error: unknown) => void) {
    this.#onThrow = onThrow;
  }

  add<Name extends EventName>(event: Name, listener: Listener<Name>): void {
    this.#of(event).add(listener);
  }

  remove<Name extends EventName>(event: Name, listener: Listener<Name>): void {
    this.#of(event).delete(listener);
  }

  has(event: EventName): boolean {
    return (this.#listeners[event]?.size ?? 0) > 0;
  }

  emit<Name extends EventName>(event: Name, value: CrawlerEvents[Name]): void {
    for (const listener of [...this.#of(event)]) {
      try {
        listener(value);
      } catch (error) {
        this.#onThrow(event, error);
      }
    }
  }

  #of<Name extends EventName>(event: Name): Set<Listener<Name>> {
    const listeners = this.#listeners as { [N in Name]?: Set<Listener<Name>> };
    return (listeners[event] ??= new Set());
  }
}
