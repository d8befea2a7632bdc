/** What the last run was told of its pace and patience, as the store keeps it: without it no delay could be explained. */
import { type Config, configSchema } from '../config/schema.js';
import { hostBudgetOf } from '../config/retry-budget.js';
import type { HostName } from '../domain/host.js';
import { hostDelayMs } from '../policy/delay.js';
import type { RunTerms } from './facts.js';

/** To be kept by the store. */
export function runNote(config: Config): string {
  return JSON.stringify(config);
}

/** Null where no run has said, or one of another version said what is not understood. */
export function lastConfig(note: string | null): Config | null {
  if (note === null) return null;
  try {
    const { success, data } = configSchema.safeParse(JSON.parse(note));
    return success ? data : null;
  } catch {
    return null;
  }
}

export function termsOf({ politeness, retry }: Config, host: HostName): RunTerms {
  return {
    delayMs: hostDelayMs(host, politeness),
    adaptiveFactor: politeness.adaptiveFactor,
    deliveriesMax: retry.deliveriesMax,
    retryBudget: hostBudgetOf(retry),
  };
}
