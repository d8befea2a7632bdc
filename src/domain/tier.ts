/**
 * A way to fetch. The lowest that gets the page is the right one: each costs its host, and us, more than the one below.
 *
 * 1 is plain HTTP under our own name; 2 shakes hands as a browser does, with the browser's name; 3 is a browser.
 */
export type Tier = 1 | 2 | 3;

/** What tier 2 can pass for: by name and version, as a handshake is that of one version. */
export const BROWSERS = ['chrome136', 'chrome142', 'chrome151', 'firefox135', 'firefox144'] as const;

export type Browser = (typeof BROWSERS)[number];
