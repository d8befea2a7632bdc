/**
 * The clocks of addresses: many names may stand for one server, which is asked as if it were one host (P2).
 *
 *     behind the address (by class, each in order of waiting) ──one is sent forward──▶ due line ──permit──▶ in flight
 *
 * Intuition: of all hosts that wait for one address only one can be next. So one stands in the due line for all of them,
 * and an opening moves one host, however many wait. Who it is is drawn like everything that classes wait for. While a
 * better class waits behind it, it stands in the line of that class: a host of a low class holds up no better one. There
 * is one such queue for each tier, and one of each stands forward: whoever waits for a browser holds up no plain request.
 *
 * Invariants: a host stands in one place at most, behind or forward; nobody is forward while the address is closed; as
 * long as the address is open somebody of each tier is forward if anybody of it is behind.
 */
import {
  type ClassQueues,
  createClassQueues,
  joinLine,
  leaveLine,
  nonEmptyLines,
  takeFront,
} from '../domain/class-queues.js';
import type { HostName } from '../domain/host.js';
import type { PriorityClass } from '../domain/record.js';
import type { Tier } from '../domain/tier.js';
import { drawClass } from '../policy/draw.js';
import type { Instant } from '../protocols/actor.js';
import type { PermitNumber } from '../protocols/workbench.js';

export interface AddressClock {
  inFlight: PermitNumber | null;
  /** Monotonic. */
  opensAtMs: number;
  /** Hosts whose own gate is open, by the tier that they want. A tier that nobody has wanted here is absent. */
  readonly queues: { [tier in Tier]?: AddressQueue };
}

interface AddressQueue {
  /** Null where nobody has had to wait, as behind most addresses. */
  behind: ClassQueues | null;
  /** The one that stands in the due line for all. */
  forward: HostName | null;
}

export const TIERS: readonly Tier[] = [1, 2, 3];

export function createAddressClock(opensAtMs: number): AddressClock {
  return { inFlight: null, opensAtMs, queues: {} };
}

export function isOpen(clock: AddressClock, now: Instant): boolean {
  return clock.inFlight === null && clock.opensAtMs <= now.monotonicMs;
}

/** Nobody is in flight, forward or behind, and the time is over. */
export function isIdle(clock: AddressClock, now: Instant): boolean {
  return isOpen(clock, now) && TIERS.every((tier) => isEmpty(clock.queues[tier]));
}

function isEmpty(queue: AddressQueue | undefined): boolean {
  return queue === undefined || (queue.forward === null && waitingIn(queue) === 0);
}

function waitingIn({ behind }: AddressQueue): number {
  return behind?.lineOf.size ?? 0;
}

/** Those that stand in a due line, one a tier at most. */
export function thoseForward({ queues }: AddressClock): HostName[] {
  return TIERS.flatMap((tier) => queues[tier]?.forward ?? []);
}

/** Where a host stands or wants to. */
export interface Place {
  readonly host: HostName;
  readonly tier: Tier;
  readonly priority: PriorityClass;
}

/**
 * A host that may be asked but for its address. The order in which they come is the order in which they wait.
 * @param due of its tier
 */
export function stand(clock: AddressClock, { host, tier, priority }: Place, due: ClassQueues, now: Instant): void {
  clock.queues[tier] ??= { behind: null, forward: null };
  const queue = clock.queues[tier];
  if (queue.forward === host) return;
  if (queue.forward === null && isOpen(clock, now) && waitingIn(queue) === 0) {
    queue.forward = host;
    return joinLine(due, host, priority);
  }
  queue.behind ??= createClassQueues();
  joinLine(queue.behind, host, priority);
  sendForward(clock, tier, due, now);
}

/** It does not want, or is not able, any more. True when it stood forward: then it is the next one's turn. */
export function stepAside({ queues }: AddressClock, { host, tier }: Omit<Place, 'priority'>): boolean {
  const queue = queues[tier];
  if (queue === undefined) return false;
  if (queue.behind !== null) leaveLine(queue.behind, host);
  if (queue.forward !== host) return false;
  queue.forward = null;
  return true;
}

/** Has somebody of those that wait in the due line, if the address is open, and in the line that they deserve. */
export function sendForward(clock: AddressClock, tier: Tier, due: ClassQueues, now: Instant): void {
  const queue = clock.queues[tier];
  const behind = queue?.behind ?? null;
  if (queue === undefined || behind === null || behind.lineOf.size === 0) return;
  if (queue.forward !== null) return inherit(queue.forward, due.lineOf.get(queue.forward), behind, due);
  if (!isOpen(clock, now)) return;
  const priority = drawClass(nonEmptyLines(behind), now.draw());
  const host = priority === null ? undefined : takeFront(behind, priority);
  if (priority === null || host === undefined) return;
  queue.forward = host;
  joinLine(due, host, priority);
  inherit(host, priority, behind, due);
}

function inherit(host: HostName, own: PriorityClass | undefined, behind: ClassQueues, due: ClassQueues): void {
  const best = bestLine(behind);
  if (own !== undefined && best !== null && best < own) joinLine(due, host, best);
}

function bestLine(queues: ClassQueues): PriorityClass | null {
  const bits = nonEmptyLines(queues);
  return bits === 0 ? null : ((31 - Math.clz32(bits & -bits)) as PriorityClass);
}
