/**
 * Crashes on purpose, to prove that none of them loses anything.
 *
 * A fault strikes at the worst moment: after the behaviour has decided, when its state may be changed already, and
 * before anything that it asked for is done.
 */
import type { LogPort } from '../protocols/ports.js';

export interface Fault {
  /** A path, or the beginning of one where it ends with a slash (`hosts/` means every host). */
  readonly actor: string;
  /** Only messages of this type count; without it all do. */
  readonly message?: string;
  /** Which of the matching handled messages is the first to crash, from 1 on. */
  readonly nth: number;
  /** How many crash in all. */
  readonly times: number;
  /** Of the matching messages after the first, each so-manieth crashes. Default 1: one after the other. */
  readonly every?: number;
}

export type FaultPlan = readonly Fault[];

export class InjectedFault extends Error {
  constructor(actor: string, message: string) {
    super(`a fault was injected into ${actor} at ${message}`);
    this.name = 'InjectedFault';
  }
}

export class Faults {
  private readonly rules: { readonly fault: Fault; matched: number }[];
  injected = 0;

  constructor(
    plan: FaultPlan,
    private readonly log: LogPort['log'],
  ) {
    this.rules = plan.map((fault) => ({ fault, matched: 0 }));
  }

  /** Throws InjectedFault where the plan wants it; counts for every rule that matches. */
  strike(actor: string, message: string): void {
    let struck = false;
    for (const rule of this.rules) {
      if (!matches(rule.fault, actor, message)) continue;
      rule.matched += 1;
      struck ||= isStruck(rule.fault, rule.matched);
    }
    if (!struck) return;
    this.injected += 1;
    this.log('warn', 'fault_injected', { actor, message });
    throw new InjectedFault(actor, message);
  }
}

function matches(fault: Fault, actor: string, message: string): boolean {
  if (fault.message !== undefined && fault.message !== message) return false;
  return fault.actor.endsWith('/') ? actor.startsWith(fault.actor) : actor === fault.actor;
}

function isStruck(fault: Fault, matched: number): boolean {
  const every = fault.every ?? 1;
  const since = matched - fault.nth;
  return since >= 0 && since % every === 0 && since / every < fault.times;
}
