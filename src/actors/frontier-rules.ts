/**
 * The frontier's rules: what the crawl may enter, what its operators wish, and who has to know.
 *
 * A change is a new value as a whole. It goes to the workbench, whose permits carry it, and into the part that caused it.
 */
import { changed, changesNothing, type CrawlSettings, type SettingsChange } from '../domain/crawl-settings.js';
import { type HostName, siteOf } from '../domain/host.js';
import type { QueuePosition } from '../domain/record.js';
import { isAdmissionCode, refusalOf, rulesOf } from '../policy/admission.js';
import { inScope, widenAll } from '../policy/scope.js';
import * as addresses from '../protocols/addresses.js';
import type { HostPart, Move } from '../protocols/commit.js';
import { type Effect, log, send } from '../protocols/effects.js';
import type { Found, RulesChange } from '../protocols/frontier.js';
import type { State } from './frontier-state.js';

/** P6: where a seed redirects to within its site is what the operator meant, and is said. */
export function follow(state: State, from: HostName, found: Found, effects: Effect[]): SettingsChange | null {
  const targets = found.candidates.filter(({ source, host }) => source === 'redirect' && siteOf(from) === siteOf(host));
  const scopeHosts = [...new Set(targets.map(({ host }) => host))].filter((host) => !inScope(state.rules.scope, host));
  if (scopeHosts.length === 0) return null;
  effects.push(...enter(state, scopeHosts));
  for (const to of scopeHosts) {
    effects.push(log('info', 'scope_widened', { from, to }));
    effects.push({ do: 'announce', event: { event: 'scope_widened', from, to } });
  }
  return { scopeHosts };
}

/** These hosts are in the scope from now on; the part in hand stores them. */
export function enter(state: State, scopeHosts: readonly HostName[]): Effect[] {
  if (scopeHosts.length === 0) return [];
  state.settings = changed(state.settings, { scopeHosts });
  const scope = widenAll(state.rules.scope, scopeHosts);
  if (scope === state.rules.scope) return [];
  state.rules = { ...state.rules, scope };
  return [tellRules(state)];
}

/** What a wish changes of settings. */
export function settingsChange(settings: CrawlSettings, { exclude, admit, paused }: RulesChange): SettingsChange {
  const isChanged = exclude !== undefined || admit !== undefined;
  const left = settings.exclusions.filter((pattern) => !(admit ?? []).includes(pattern));
  return {
    ...(isChanged ? { exclusions: [...new Set([...left, ...(exclude ?? [])])] } : {}),
    ...(paused === undefined ? {} : { paused }),
  };
}

export function adopt(state: State, change: SettingsChange): Effect[] {
  if (changesNothing(change)) return [];
  state.settings = changed(state.settings, change);
  state.rules = rulesOf(state.props.configured, state.settings);
  return [tellRules(state)];
}

/**
 * A host refuses by the rules of its permit. Where they have been taken back since, whoever named the URL meanwhile was
 * told that it is queued: so it is, at the end of its queue.
 */
export function upheld(state: State, part: HostPart): HostPart {
  if (!part.moves.some(isRefusal)) return part;
  const moves = part.moves.map((move) => {
    if (!isRefusal(move) || refusalOf(state.rules, move.record) !== null) return move;
    const { record, from } = move;
    const to: QueuePosition = { queue: 'ready', priority: record.priority, sequence: state.sequence++ };
    return { from, to, record: { ...record, state: 'queued' as const } };
  });
  return { ...part, moves };
}

function isRefusal({ record }: Move): boolean {
  const last = record.attempts.at(-1);
  return record.state === 'refused' && last !== undefined && isAdmissionCode(last.code);
}

/** Every permit carries them: the last look of a host is by the rules in force when it was granted. */
function tellRules(state: State): Effect {
  return send(addresses.workbench, { type: 'rules', rules: state.rules });
}

export function holdFor(why: string): Effect {
  return send(addresses.workbench, { type: 'hold', why });
}

export function releaseFor(why: string): Effect {
  return send(addresses.workbench, { type: 'release', why });
}
