/**
 * Where a service's token stands: in the environment, of the service and of the crawl that calls it. What is on a command
 * line is there for all to see, and what is in a configuration is shown, and kept with the crawl.
 */
export const TOKEN_VARIABLE = 'SIDECAR_TOKEN';

/** Null: there is none. */
export function tokenIn(environment: Readonly<Record<string, string | undefined>>): string | null {
  return environment[TOKEN_VARIABLE] || null;
}
