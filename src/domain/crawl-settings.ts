/**
 * What a crawl keeps of the wishes of those who run it, beside its URLs: read at the start of every run, changed while
 * it runs, in the same commit as what caused the change.
 */
import type { HostName } from './host.js';

/** How far links are followed: to the hosts of the seeds, to their registrable domains, or anywhere. */
export type ScopeKind = 'host' | 'site' | 'any';

/** Bounds beyond which a URL is taken for one of an endless many. */
export interface TrapBounds {
  readonly urlCharactersMax: number;
  /** Path segments. */
  readonly segmentsMax: number;
  /** How often in a row a path may go through the same segments. */
  readonly repeatsMax: number;
}

/** The rules that a run was configured with. Patterns as they were written. */
export interface ConfiguredRules {
  readonly scope: ScopeKind;
  readonly depthMax: number | null;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly traps: TrapBounds;
}

export interface CrawlSettings {
  /** Patterns that were excluded by command, beside those of the configuration. */
  readonly exclusions: readonly string[];
  readonly paused: boolean;
  /** Hosts that the scope was widened to: those of seeds, and where seeds redirect to. In no order. */
  readonly scopeHosts: readonly HostName[];
}

/** What is different from now on; what is left out stays as it was. */
export interface SettingsChange {
  readonly exclusions?: readonly string[];
  readonly paused?: boolean;
  /** These are added. */
  readonly scopeHosts?: readonly HostName[];
}

export const NO_SETTINGS: CrawlSettings = { exclusions: [], paused: false, scopeHosts: [] };

/** The settings after a change. Hosts are given once each: whoever adds one has looked whether it is there. */
export function changed(settings: CrawlSettings, { scopeHosts = [], ...rest }: SettingsChange): CrawlSettings {
  return { ...settings, ...rest, scopeHosts: [...settings.scopeHosts, ...scopeHosts] };
}

/** Whether it says anything at all. */
export function changesNothing({ exclusions, paused, scopeHosts = [] }: SettingsChange): boolean {
  return exclusions === undefined && paused === undefined && scopeHosts.length === 0;
}
