/** What is known against a seed before its name is resolved. */
import { contactProblem } from '../config/contact.js';
import type { Config } from '../config/schema.js';
import type { Candidate } from '../domain/url.js';
import { guardRules, vet } from '../net/guard.js';
import { ControlError } from './control.js';
import type { Field } from './seeds.js';

/** S1: a seed that spells an address is refused here when the guard would refuse it at the connection. */
export function literalRefusal({ guard }: Config): Field['refusalOf'] {
  const rules = guardRules(guard.allow);
  return ({ host }) => {
    const vetting = vet(host, rules);
    return vetting.ok || vetting.range === 'invalid' ? null : 'guard_refused';
  };
}

/** Throws ControlError `no_contact`: whoever leads a crawl beyond this machine must say who runs it. */
export function refuseAnonymous(config: Config, candidates: readonly Candidate[]): void {
  const hosts = candidates.map(({ host }) => host);
  const problem = contactProblem(config.userAgent, hosts, config);
  if (problem !== null) throw new ControlError('no_contact', problem.message, 409, problem.where, problem.advice);
}
