/**
 * What the last run was told, as the store keeps it: its pace, its patience and its rules. Without them no delay and no
 * refusal of a crawl that has stopped could be explained.
 */
import { z } from 'zod';
import { type Config, configSchema } from '../config/schema.js';
import type { HostName } from '../domain/host.js';
import { siteOf } from '../domain/host.js';
import type { Candidate } from '../domain/url.js';
import { hostDelayMs } from '../policy/delay.js';
import { inScope, type Scope, scopeOf } from '../policy/scope.js';
import type { RuleFacts, RuleRefusal, RunTerms } from './facts.js';

export interface LastRun {
  readonly config: Config;
  readonly scope: Scope;
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
    return success ? { config: data.config, scope: scopeOf(data.config.scope, data.hosts) } : null;
  } catch {
    return null;
  }
}

export function termsOf({ politeness, retry }: Config, host: HostName): RunTerms {
  return {
    delayMs: hostDelayMs(host, politeness),
    adaptiveFactor: politeness.adaptiveFactor,
    deliveriesMax: retry.deliveriesMax,
  };
}

/** What the rules of a run say of a URL that lies so many links away from a seed. */
export function judge({ config, scope }: LastRun, { host }: Pick<Candidate, 'host'>, depth: number): RuleFacts {
  const isInScope = inScope(scope, host);
  return {
    scope: scope.kind === 'any' ? { kind: 'any', names: [] } : scope,
    inScope: isInScope,
    judgedBy: scope.kind === 'site' ? siteOf(host) : host,
    refusal: isInScope ? depthRefusal(config.maxDepth, depth) : { code: 'out_of_scope', detail: null },
  };
}

function depthRefusal(depthMax: number | null, depth: number): RuleRefusal | null {
  if (depthMax === null || depth <= depthMax) return null;
  return { code: 'too_deep', detail: `${depth} links; at most ${depthMax}` };
}
