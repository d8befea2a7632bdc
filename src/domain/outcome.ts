/**
 * What a visit led to, as data, and the stable codes that operators see.
 *
 * One outcome a visit. `OutcomeKind` says which row of the table of judgement it is; `Code` says which case of that
 * row. A code never changes its meaning.
 */

import type { Tier } from './tier.js';

export type OutcomeKind =
  | 'fetched'
  | 'unchanged'
  | 'redirected'
  | 'missing'
  | 'refused'
  | 'challenged'
  | 'gone'
  | 'throttled'
  | 'failed'
  | 'blocked_by_robots'
  | 'parked'
  | 'dead';

/** Every code, with what it means to an operator. The documentation of codes is printed from here. */
export const CODES = {
  ok: 'a response with content',
  not_modified: '304 to a request with validators',
  same_content: 'a response with the same content as the last time',
  redirect: 'a redirect; its target is a candidate of its own',
  redirect_without_target: 'a redirect status without a usable Location',
  http_not_found: 'status 404',
  http_forbidden: 'status 403',
  http_client_error: 'another 4xx status',
  http_gone: 'status 410',
  http_throttled: 'status 429 or 503, or Retry-After on another 5xx',
  http_server_error: 'another 5xx status',
  http_unexpected_status: 'a status outside 200 to 599, or one that no plain GET can be answered with',
  unmodified_without_validators: '304 to a plain GET',
  challenge: 'a door in front of the page: it wants to know whether a person asks',
  script_shell: 'a page that scripts have yet to fill',
  backend_failed: 'the browser service failed, or was not reached; the URL waits until it is well again',
  backend_timeout: 'the browser service did not answer in time; the URL waits until it is well again',
  backend_down: 'the browser service is given a rest; the URL waits until it is well again',
  browser_budget: 'the host has used up its browser time of the day',
  connect_failed: 'no connection: refused, unreachable or reset before a request could be sent',
  connection_reset: 'the connection broke in the middle of the exchange',
  timeout: 'the total deadline passed before the first byte of the body',
  too_slow: 'the total deadline passed while the body was still coming',
  too_large: 'the body passed the size bound',
  header_overflow: 'the header block passed its bound',
  truncated: 'the body ended before its declared length, or without its last chunk',
  protocol_error: 'what came is not HTTP as we speak it',
  not_strict_http: 'an answer of HTTP that breaks the rules of its syntax',
  tls_failed: 'the TLS handshake or the certificate failed',
  undecodable: 'the content coding is broken or unknown',
  bomb: 'the body grows past its bound when decompressed',
  unsupported_scheme: 'neither http nor https',
  dns_not_found: 'the name does not exist (NXDOMAIN) or has no address',
  dns_failed: 'the resolver failed or did not answer in time',
  egress_down: 'we could reach hardly any host: the fault was ours; it stays queued',
  guard_refused: 'the address is not one that a crawl may reach',
  robots_disallowed: 'the robots rules in force disallow it',
  robots_unreadable: 'robots.txt can not be read, and no last good copy exists',
  process_died: 'the whole process died while it was being read',
  worker_crashed: 'the worker that handled it crashed',
  url_invalid: 'not a URL',
  url_scheme: 'not an http or https URL',
  url_too_long: 'longer than the bound; never cut',
  url_host_invalid: 'the host name can not exist',
  no_contact: 'it lies beyond this machine, and the user agent does not say who runs the crawl',
  out_of_scope: 'its host is none of those that the crawl may enter',
  too_deep: 'further from a seed than the crawl goes',
  excluded: 'it matches a pattern that is excluded',
  not_included: 'it matches none of the patterns that are included',
  trap_url_length: 'longer than the bound for URLs that are taken for real ones',
  trap_path_depth: 'more path segments than the bound',
  trap_repeated_segments: 'its path goes through the same segments again and again',
  filtered: 'the URL filter of the program that runs the crawl left it',
  plugin_failed: 'a plug-in of the program that runs the crawl failed on it',
  redirect_limit: 'the chain of redirects is longer than its bound',
  redirect_loop: 'it redirects to a URL that its chain has been at, and no new cookie comes with it',
  interrupted: 'given up because the process was stopping; it stays queued',
} as const satisfies Record<string, string>;

export type Code = keyof typeof CODES;

/** One line of a URL's history. */
export interface Attempt {
  /** When it was judged; it had begun `durationMs` or a little more before. */
  readonly atMs: number;
  readonly outcome: OutcomeKind;
  readonly code: Code;
  /** HTTP status; null when none came. */
  readonly status: number | null;
  readonly tier: Tier;
  readonly durationMs: number;
  /** Where a redirect leads, which address the guard refused, what the connection said; absent where nothing more is known. */
  readonly detail?: string;
}

/** A detail beyond it is cut, but for the target of a redirect, which has the bound of a URL. */
export const DETAIL_CHARACTERS_MAX = 300;
