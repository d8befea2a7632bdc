/** The addresses of the tree's actors. They are paths: whoever holds one can send, whether or not an incarnation lives. */
import { type HostName, partitionOf } from '../domain/host.js';
import type { Tier } from '../domain/tier.js';
import { address, type Ref } from './actor.js';
import type * as Fetcher from './fetcher.js';
import type * as Frontier from './frontier.js';
import type * as Host from './host.js';
import type * as Parser from './parser.js';
import type * as Recorder from './recorder.js';
import type * as Workbench from './workbench.js';

export const recorder: Ref<Recorder.Message> = address('recorder');
export const frontier: Ref<Frontier.Message> = address('frontier');
export const workbench: Ref<Workbench.Message> = address('workbench');

/** What works in each tier's pool. */
export const FETCHER_NAMES: Readonly<Record<Tier, string>> = { 1: 'fetcher', 2: 'impersonator', 3: 'browser' };

export function fetcher(tier: Tier, slot: number): Ref<Fetcher.Message> {
  const name = FETCHER_NAMES[tier];
  return address(`${name}s/${name}-${slot}`);
}

export function parser(thread: number): Ref<Parser.Message> {
  return address(`parsers/parser-${thread}`);
}

/** The shard is the partition of the host's site. */
export function host(name: HostName): Ref<Host.Message> {
  return address(`hosts/p${String(partitionOf(name)).padStart(3, '0')}/${name}`);
}
