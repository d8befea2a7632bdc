/** A crawler's options, checked and turned into what the engine takes. */
import { availableParallelism } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readSeed } from '../admin/seeds.js';
import { checkAuthorities } from '../config/authorities.js';
import { contactProblem } from '../config/contact.js';
import { loadConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import type { Candidate } from '../domain/url.js';
import type { PlugInModule, PlugInModules } from '../plugins/modules.js';
import { productTokenOf } from '../policy/robots/agent.js';
import { CrawlerError } from './error.js';
import type { CrawlerOptions, ModuleName, PlugIn } from './options.js';

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
