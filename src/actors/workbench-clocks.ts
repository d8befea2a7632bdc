/**
 * The clocks of addresses: many names may stand for one server, which is asked as if it were one host (P2).
 *
 *     behind the address (by class, each in order of waiting) ──one is sent forward──▶ due line ──permit──▶ in flight
 *
 * Intuition: of all hosts that wait for one address only one can be next. So one stands in the due line for all of them,
 * and an opening moves one host, however many wait. Who it is is drawn like everything that classes wait for. While a
 * better class waits behind it, it stands in the line of that class: a host of a low class holds up no better one.
 *
 * Invariants: a host stands in one place at most, behind or forward; nobody is forward while the address is closed; as
 * long as the address is open somebody is forward if anybody is behind.
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
import { drawClass } from '../policy/draw.js';
import type { Instant } from '../protocols/actor.js';
import type { PermitNumber } from '../protocols/workbench.js';

export interface AddressClock {
  inFlight: PermitNumber | null;
  /** Monotonic. */
  opensAtMs: number;
  /** Hosts whose own gate is open. Null where nobody has had to wait, as behind most addresses. */
  behind: ClassQueues | null;
  /** The one that stands in the due line for all. */
  forward: HostName | null;
}

export function createAddressClock(opensAtMs: number): AddressClock {
  return { inFlight: null, opensAtMs, behind: null, forward: null };
}

export function isOpen(clock: AddressClock, now: Instant): boolean {
  return clock.inFlight === null && clock.opensAtMs <= now.monotonicMs;
}

/** Nobody is in flight, forward or behind, and the time is over. */
export function isIdle(clock: AddressClock, now: Instant): boolean {
  return isOpen(clock, now) && clock.forward === null && waitingBehind(clock) === 0;
}

export function waitingBehind({ behind }: AddressClock): number {
  return behind?.lineOf.size ?? 0;
}

/** A host that may be asked but for its address. The order in which they come is the order in which they wait. */
export function stand(
  clock: AddressClock,
  host: HostName,
  priority: PriorityClass,
  due: ClassQueues,
  now: Instant,
): void {
  if (clock.forward === host) return;
  if (clock.forward === null && isOpen(clock, now) && waitingBehind(clock) === 0) {
    clock.forward = host;
    return joinLine(due, host, priority);
  }
  clock.behind ??= createClassQueues();
  joinLine(clock.behind, host, priority);
  sendForward(clock, due, now);
}

/** It does not want, or is not able, any more. True when it stood forward: then it is the next one's turn. */
export function stepAside(clock: AddressClock, host: HostName): boolean {
  if (clock.behind !== null) leaveLine(clock.behind, host);
  if (clock.forward !== host) return false;
  clock.forward = null;
  return true;
}

/** Has somebody of those that wait in the due line, if the address is open, and in the line that they deserve. */
export function sendForward(clock: AddressClock, due: ClassQueues, now: Instant): void {
  const { behind } = clock;
  if (behind === null || behind.lineOf.size === 0) return;
  if (clock.forward !== null) return inherit(clock.forward, due.lineOf.get(clock.forward), behind, due);
  if (!isOpen(clock, now)) return;
  const priority = drawClass(nonEmptyLines(behind), now.draw());
  const host = priority === null ? undefined : takeFront(behind, priority);
  if (priority === null || host === undefined) return;
  clock.forward = host;
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
