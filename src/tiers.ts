/**
 * The tiers of a crawl: what fetches, the plain client, a browser's handshake, a browser service, as far as the
 * configuration has them. Each is opened here, with the guard that all of them share.
 */
import { readFileSync } from 'node:fs';
import { contactOf } from './config/contact.js';
import type { Config } from './config/schema.js';
import { secureContextOf } from './net/connect.js';
import type { Resolver } from './net/dns.js';
import type { GuardRules } from './net/guard.js';
import { createHttpClient, type HttpClient } from './net/http.js';
import { createImpersonator, type Impersonator } from './net/impersonator.js';
import { createSidecarClient, type SidecarClient } from './net/sidecar-client.js';
import type { Clock, FetchPort, LogPort, TierPorts } from './protocols/ports.js';
import { tokenIn } from './sidecar/token.js';

const KEEP_ALIVE_MS = 4_000;

/** A tier that this crawl does not have is absent. */
export function tiersOf(plain: FetchPort, impersonating: FetchPort | null, rendering: FetchPort | null): TierPorts {
  return {
    1: plain,
    ...(impersonating === null ? {} : { 2: impersonating }),
    ...(rendering === null ? {} : { 3: rendering }),
  };
}

export function plainClientOf(config: Config, guard: GuardRules, clock: Clock): HttpClient {
  return createHttpClient({
    guard,
    clock,
    http2: config.fetch.http2,
    socketsMax: config.fetch.socketsMax,
    keepAliveMs: KEEP_ALIVE_MS,
    bodyBudgetBytes: config.fetch.bodyBudgetBytes,
    ...(config.tls.ca === null ? {} : { tls: { ca: readFileSync(config.tls.ca, 'utf8') } }),
  });
}

/** What asks with a browser's handshake; null where no site may be asked so, or where it is not to be had here. */
export async function impersonatorOf(
  config: Config,
  guard: GuardRules,
  clock: Clock,
  log: LogPort,
): Promise<Impersonator | null> {
  const { impersonate, userAgent, tls, fetch } = config;
  if (impersonate.sites.length === 0) return null;
  const opened = await createImpersonator({
    browser: impersonate.browser,
    from: impersonate.from ?? contactOf(userAgent),
    guard,
    caFile: tls.ca,
    clock,
    bodyBudgetBytes: fetch.bodyBudgetBytes,
  });
  if (opened.kind === 'available') return opened.impersonator;
  log.log('warn', 'tier_unavailable', { tier: 2, why: opened.why });
  return null;
}

/** Null: no page is rendered. */
export function browserTier(
  { browser }: Config,
  { guard, names, clock }: { readonly guard: GuardRules; readonly names: Resolver; readonly clock: Clock },
): SidecarClient | null {
  if (browser.endpoint === null) return null;
  const { endpoint, trustBackend: trusted } = browser;
  const trust = { guard, secureContext: secureContextOf(undefined) };
  const token = tokenIn(process.env);
  return createSidecarClient({ endpoint, token, trusted, trust, names, clock });
}
