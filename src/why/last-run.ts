/**
 * What the last run was told, as the store keeps it: its pace, its patience and its rules. Without them no delay and no
 * refusal of a crawl that has stopped could be explained.
 */
import { z } from 'zod';
import { type Config, configSchema } from '../config/schema.js';
import { type ConfiguredRules, NO_SETTINGS, type TrapBounds } from '../domain/crawl-settings.js';
import type { HostName } from '../domain/host.js';
import { type CrawlRules, refusalOf, rulesOf } from '../policy/admission.js';
import { siteOf } from '../domain/host.js';
import type { Candidate } from '../domain/url.js';
import { hostDelayMs } from '../policy/delay.js';
import { inScope } from '../policy/scope.js';
import type { RuleFacts, RunTerms } from './facts.js';

export interface LastRun {
  readonly config: Config;
  readonly rules: CrawlRules;
}

const noteSchema = z.object({ config: configSchema, hosts: z.array(z.string()) });

/** To be kept by the store. */
export function runNote(config: Config, seeds: readonly Pick<Candidate, 'host'>[]): string {
  return JSON.stringify({ config, hosts: [...new Set(seeds.map(({ host }) => host))] });
}

/** Null where no run has said, or one of another version said what is not understood. */
export function lastRun(note: string | null): LastRun | null {
  if (note === null) return null;
  try {
    const { success, data } = noteSchema.safeParse(JSON.parse(note));
    return success
      ? { config: data.config, rules: rulesOf(configuredRules(data.config), NO_SETTINGS, data.hosts) }
      : null;
  } catch {
    return null;
  }
}

function configuredRules({ scope, maxDepth }: Config): ConfiguredRules {
  return { scope, depthMax: maxDepth, include: [], exclude: [], traps: NO_TRAPS };
}

/** What is not enforced refuses nothing. */
const NO_TRAPS: TrapBounds = {
  urlCharactersMax: Number.MAX_SAFE_INTEGER,
  segmentsMax: Number.MAX_SAFE_INTEGER,
  repeatsMax: Number.MAX_SAFE_INTEGER,
};

export function termsOf({ politeness, retry }: Config, host: HostName): RunTerms {
  return {
    delayMs: hostDelayMs(host, politeness),
    adaptiveFactor: politeness.adaptiveFactor,
    deliveriesMax: retry.deliveriesMax,
  };
}

/** What the rules of a crawl say of a URL that lies so many links away from a seed. */
export function judge(rules: CrawlRules, { url, host }: Pick<Candidate, 'url' | 'host'>, depth: number): RuleFacts {
  const { scope } = rules;
  return {
    scope,
    inScope: inScope(scope, host),
    judgedBy: scope.kind === 'site' ? siteOf(host) : host,
    refusal: refusalOf(rules, { url, host, depth }),
  };
}
