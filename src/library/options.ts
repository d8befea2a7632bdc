/** What a crawler is made with, checked and turned into what the engine takes. */
import { availableParallelism } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readSeed } from '../admin/seeds.js';
import { checkAuthorities } from '../config/authorities.js';
import { contactProblem } from '../config/contact.js';
import { loadConfig } from '../config/load.js';
import type { ConfigOptions } from '../config/options.js';
import type { Config } from '../config/schema.js';
import type { Candidate } from '../domain/url.js';
import type { PlugInModule, PlugInModules } from '../plugins/modules.js';
import type { UrlFilter } from '../plugins/url-filter.js';
import { productTokenOf } from '../policy/robots/agent.js';
import { CrawlerError } from './error.js';
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

export interface CheckedOptions {
  readonly config: Config;
  readonly dataDir: string;
  readonly seeds: readonly Candidate[];
  readonly plugIns: PlugInModules;
}

/** Throws ConfigError and CrawlerError. */
export function checked(options: CrawlerOptions): CheckedOptions {
  const loaded = loadConfig({ cores: availableParallelism(), object: options.config });
  checkAuthorities(loaded);
  const { config } = loaded;
  if (productTokenOf(config.userAgent) === null) {
    const advice = "as in userAgent: 'ExampleBot/1.0 (+https://bot.example/)'";
    const message = 'userAgent must begin with a name of letters, - and _ only';
    throw new CrawlerError('no_product_token', message, 'config.userAgent', advice);
  }
  refuseNoDirectory(options.dataDir);
  refuseNonsense('pagesMax', options.pagesMax);
  refuseNonsense('secondsMax', options.secondsMax);
  refuseNonsense('pagesHeldMax', options.pagesHeldMax);
  refuseNonsense('pageBytesHeldMax', options.pageBytesHeldMax);
  const seeds = (options.seeds ?? []).map(seedOf);
  refuseAnonymous(config, seeds);
  return {
    config,
    dataDir: resolve(options.dataDir),
    seeds,
    plugIns: {
      contentHandlers: (options.contentHandlers ?? []).map(moduleOf),
      linkExtractors: (options.linkExtractors ?? []).map(moduleOf),
    },
  };
}

/** Throws CrawlerError `no_contact`: whoever leads a crawl beyond this machine must say who runs it. */
export function refuseAnonymous(config: Config, seeds: readonly Candidate[]): void {
  const hosts = seeds.map(({ host }) => host);
  const problem = contactProblem(config.userAgent, hosts, config);
  if (problem === null) return;
  const advice = "give a URL or an address, as in userAgent: 'ExampleBot/1.0 (+https://bot.example/)'";
  throw new CrawlerError('no_contact', problem.message, problem.where, advice);
}

function seedOf(text: string): Candidate {
  const made = readSeed(text);
  if (!('refusal' in made)) return made;
  throw new CrawlerError(made.refusal, 'a seed is no URL that can be fetched', text.slice(0, 200));
}

function refuseNoDirectory(dataDir: unknown): void {
  if (typeof dataDir === 'string' && dataDir !== '') return;
  throw new CrawlerError('config_invalid', 'dataDir is the path of a folder', 'dataDir');
}

function refuseNonsense(name: string, value: unknown): void {
  if (value === undefined || (typeof value === 'number' && value > 0)) return;
  throw new CrawlerError('config_invalid', `${name} is a number above 0; it was given ${String(value)}`, name);
}

function moduleOf(plugIn: PlugIn): PlugInModule {
  const isNamed = typeof plugIn === 'object' && 'module' in plugIn;
  const name = isNamed ? plugIn.module : plugIn;
  return { href: hrefOf(name), options: isNamed ? (plugIn.options ?? null) : null };
}

function hrefOf(name: ModuleName): string {
  if (typeof name !== 'string') return name.href;
  if (/^(file|data):/.test(name)) return name;
  if (isAbsolute(name)) return pathToFileURL(name).href;
  const advice = "give an absolute path, or new URL('./handler.js', import.meta.url)";
  throw new CrawlerError('plugin_invalid', 'a plug-in is named by its absolute path or its URL', name, advice);
}
