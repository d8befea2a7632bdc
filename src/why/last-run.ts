/** What the last run was told, as the store keeps it: pace and patience, without which no delay can be explained. */
import { type Config, configSchema } from '../config/schema.js';
import type { HostName } from '../domain/host.js';
import { hostDelayMs } from '../policy/delay.js';
import type { RunTerms } from './facts.js';

/** Null where no run has said, or one of another version said what is not understood. */
export function lastConfig(told: string | null): Config | null {
  if (told === null) return null;
  try {
    const read = configSchema.safeParse(JSON.parse(told));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

export function termsOf(config: Config): (host: HostName) => RunTerms {
  return (host) => ({
    delayMs: hostDelayMs(host, config.politeness),
    adaptiveFactor: config.politeness.adaptiveFactor,
    deliveriesMax: config.retry.deliveriesMax,
  });
}

export function lastTerms(told: string | null): ((host: HostName) => RunTerms) | null {
  const config = lastConfig(told);
  return config === null ? null : termsOf(config);
}
