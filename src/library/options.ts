/** What a crawler is made with. */
import type { ConfigOptions } from '../config/options.js';
import type { UrlFilter } from '../plugins/url-filter.js';
import type { LogFunction, Logger } from './log.js';
import type { Page, Want } from './page.js';

export interface CrawlerOptions {
  /** Where everything is kept; made where it is not there. One crawler, and one process, at a time. */
  readonly dataDir: string;
  /** Options by group; what is left out has its default. Files and the environment are not looked at. */
  readonly config?: ConfigOptions;
  /** URLs, or host names for which http is assumed. What is known already is not queued once more. */
  readonly seeds?: readonly string[];
  /** Fetch seeds that are known once more, and ask whether they have changed. */
  readonly again?: boolean;
  /** The run ends after about so many visits: those that are open then still end. */
  readonly pagesMax?: number;
  readonly secondsMax?: number;
  /** Go on when nothing is left, waiting for seeds and for what falls due, until `stop()`. */
  readonly keepRunning?: boolean;
  /** Listen for commands (`orbweaver status`, `why` …) through a socket in the data directory. Default: true. */
  readonly control?: boolean;
  /** What comes with each page beside its facts. To give it, even empty, is to ask for pages. */
  readonly want?: Want;
  /** Called for each page in order, one at a time; what it promises is waited for. */
  readonly onPage?: (page: Page) => void | Promise<void>;
  /** Pages that are committed and not taken: from here on no request begins. Default: 64. */
  readonly pagesHeldMax?: number;
  /** Their bytes, likewise. Default: 32 MiB. */
  readonly pageBytesHeldMax?: number;
  /** Default: none. */
  readonly log?: LogFunction | Logger;
  readonly urlFilter?: UrlFilter;
  /** The first one that takes the type of a page gets it. */
  readonly contentHandlers?: readonly PlugIn[];
  readonly linkExtractors?: readonly PlugIn[];
}

/** A module by its absolute path or its URL, or that with options for each of its calls. */
export type PlugIn = ModuleName | { readonly module: ModuleName; readonly options?: unknown };

/** A path, a `file:` URL as text, or a URL object (`new URL('./json.js', import.meta.url)`). */
export type ModuleName = string | { readonly href: string };
