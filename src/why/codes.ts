/**
 * Every code in words for operators: what happened, what the crawl does about it by itself, and what is left to do.
 *
 * The table is whole by type: a new code does not compile until somebody has thought of who will read it. The page of
 * codes in the documentation is printed from here.
 */
import type { Code } from '../domain/outcome.js';

export interface CodeWords {
  /** Follows a status or stands alone: `the server has no such page`. */
  readonly said: string;
  /** What the crawl does by itself. */
  readonly follows: string;
  /** What an operator can do; null where there is nothing to be done. */
  readonly advice: string | null;
}

const RETRIED = 'It is asked again after a while, some times; then it is a dead letter.';
const OVER = 'It is not asked again.';
const REFUSED_HERE = 'It is not asked for.';
const REFUSED_BY_RULE = 'It is not let in, wherever it is found.';
const FOUND_AGAIN = 'Give it as a seed when the bound is right';
const SPELLING_ADVICE = 'Write an absolute http or https URL.';

export const CODE_WORDS: Readonly<Record<Code, CodeWords>> = {
  ok: {
    said: 'the page came',
    follows: 'It was archived and its links were followed.',
    advice: null,
  },
  not_modified: {
    said: 'the server says that it has not changed since it was last fetched',
    follows: 'What was stored stays as it is.',
    advice: null,
  },
  same_content: {
    said: 'the page came, with the same content as the last time',
    follows: 'It was archived as a repetition of the earlier one; its links were followed.',
    advice: null,
  },
  redirect: {
    said: 'the server sends on to another URL',
    follows: 'The target is a URL of its own, with its own admission.',
    advice: null,
  },
  redirect_without_target: {
    said: 'the server answered with a redirect that names no usable target',
    follows: OVER,
    advice: 'Only the site can mend that.',
  },
  http_not_found: {
    said: 'the server has no such page',
    follows: OVER,
    advice: 'If it should exist, look at the page that links to it.',
  },
  http_forbidden: {
    said: 'the server does not let us have it',
    follows:
      'The next way of fetching is tried, if there is one for this host; else it is not asked again. The host is asked more slowly.',
    advice: 'Ask the owner of the site, or leave it.',
  },
  http_client_error: {
    said: 'the server takes the request for wrong',
    follows: OVER,
    advice: 'Open the URL by hand: it may want a login.',
  },
  http_gone: {
    said: 'the server says that the page is gone for good',
    follows: OVER,
    advice: null,
  },
  http_throttled: {
    said: 'the host asked for a rest',
    follows: 'It stays queued, and is asked when the rest is over; that costs no delivery.',
    advice: 'Raise `politeness.delayMs` for this host if it happens often.',
  },
  http_server_error: {
    said: 'the server failed',
    follows: RETRIED,
    advice: null,
  },
  http_unexpected_status: {
    said: 'the server answered with a status that answers no such request',
    follows: OVER,
    advice: 'Only the site can mend that.',
  },
  unmodified_without_validators: {
    said: 'the server says that nothing has changed, though nothing was known of it',
    follows: 'It is asked once more; a second such answer makes it a dead letter.',
    advice: 'A cache before the site may be broken.',
  },
  connect_failed: {
    said: 'no connection could be made',
    follows: RETRIED,
    advice: 'Look whether the host is up and can be reached from here.',
  },
  connection_reset: {
    said: 'the connection broke in the middle',
    follows: RETRIED,
    advice: null,
  },
  timeout: {
    said: 'no answer came in time',
    follows: RETRIED,
    advice: 'Raise `fetch.timeoutMs` if the site is known to be slow.',
  },
  too_slow: {
    said: 'the answer had begun, but did not end in time',
    follows: OVER,
    advice: `Raise \`fetch.timeoutMs\`. ${FOUND_AGAIN}.`,
  },
  too_large: {
    said: 'the body is larger than the bound',
    follows: OVER,
    advice: `Raise \`fetch.bytesMax\`. ${FOUND_AGAIN}.`,
  },
  header_overflow: {
    said: 'the headers are larger than the bound',
    follows: OVER,
    advice: `Raise \`fetch.headerBytesMax\`. ${FOUND_AGAIN}.`,
  },
  challenge: {
    said: 'a door stood before the page, which lets through whom it takes for a person',
    follows: 'The next way of fetching is tried, if there is one for this host; else it is tried again later.',
    advice: 'Ask the owner of the site for leave; or see to a browser service (`browser.endpoint`).',
  },
  script_shell: {
    said: 'the page was empty but for scripts that have yet to fill it',
    follows: 'It is rendered by a browser, if there is one for this host; else it is tried again later.',
    advice: 'Pages of this kind need a browser service (`browser.endpoint`).',
  },
  backend_failed: {
    said: 'the browser service failed, or could not be reached',
    follows: 'It waits until the service is well again; that costs no delivery.',
    advice: 'Look at the browser service: its log says what failed.',
  },
  backend_timeout: {
    said: 'the browser service did not answer in time',
    follows: 'It waits until the service is well again; that costs no delivery.',
    advice: 'Look at the browser service: it may be overloaded, or hang.',
  },
  backend_down: {
    said: 'the browser service had failed too often in a row, and is given a rest',
    follows: 'One probe at a time finds out whether it is back; then this goes on. That costs no delivery.',
    advice: 'Look at the browser service: its log says what failed.',
  },
  browser_budget: {
    said: 'the host has used up the browser time that it is granted a day',
    follows: 'It is tried again tomorrow; that costs no delivery.',
    advice: 'Raise `browser.secondsPerHostAndDay` if the host is worth it.',
  },
  truncated: {
    said: 'the body ended before its end',
    follows: RETRIED,
    advice: null,
  },
  protocol_error: {
    said: 'what came is not HTTP',
    follows: RETRIED,
    advice: 'Look what listens on that port.',
  },
  not_strict_http: {
    said: 'the answer breaks the rules by which HTTP is written, so that it could be read in more than one way',
    follows: OVER,
    advice: 'Only the site can mend that; a browser (`browser.endpoint`) may be less strict.',
  },
  tls_failed: {
    said: 'no secure connection could be made',
    follows: RETRIED,
    advice: 'Look at the certificate of the site; an authority of your own goes into `tls.ca`.',
  },
  undecodable: {
    said: 'the body is compressed in a way that can not be read',
    follows: RETRIED,
    advice: 'Only the site can mend that.',
  },
  bomb: {
    said: 'the body grows past its bound when it is decompressed',
    follows: OVER,
    advice: `Raise \`fetch.bytesMax\` if the site is trusted. ${FOUND_AGAIN}.`,
  },
  unsupported_scheme: {
    said: 'it is neither http nor https',
    follows: OVER,
    advice: null,
  },
  dns_not_found: {
    said: 'its host name does not exist',
    follows: RETRIED,
    advice: 'Look at the spelling of the host; a name of a closed network goes into `dns.hosts`.',
  },
  dns_failed: {
    said: 'the name servers could not say where its host is',
    follows: RETRIED,
    advice: 'Look at the name servers in use, `dns.servers`.',
  },
  egress_down: {
    said: 'hardly any host could be reached then: the fault was ours',
    follows: 'It stays queued, and is asked again when hosts can be reached; that costs no delivery.',
    advice: 'If it happens often, look at the connection of this machine, and at its name servers.',
  },
  guard_refused: {
    said: 'the guard refuses the address of its host',
    follows: OVER,
    advice: 'If that network is meant, put it into `guard.allow`, then give the URL as a seed again.',
  },
  robots_disallowed: {
    said: 'robots.txt disallows it',
    follows: 'It is not asked for while that rule stands.',
    advice: 'Only the owner of the site can allow it.',
  },
  robots_unreadable: {
    said: 'robots.txt can not be read, and no good copy of it exists',
    follows: 'It waits until robots.txt can be read; that costs no delivery.',
    advice: 'Look why the site does not serve its robots.txt.',
  },
  process_died: {
    said: 'the whole crawler died while it was being read',
    follows: 'It is put off; after three such deaths it is a dead letter.',
    advice: 'Please report the page: none should be able to do that.',
  },
  worker_crashed: {
    said: 'the part of the crawler that read it crashed',
    follows: 'It is asked once more; a second crash makes it a dead letter.',
    advice: 'Please report the page: none should be able to do that.',
  },
  url_invalid: {
    said: 'it is no URL',
    follows: REFUSED_HERE,
    advice: SPELLING_ADVICE,
  },
  url_scheme: {
    said: 'its scheme is neither http nor https',
    follows: REFUSED_HERE,
    advice: SPELLING_ADVICE,
  },
  url_too_long: {
    said: 'it is longer than any URL that is kept, and a URL is never cut',
    follows: REFUSED_HERE,
    advice: null,
  },
  url_host_invalid: {
    said: 'no host can have such a name',
    follows: REFUSED_HERE,
    advice: 'Look at the spelling of the host.',
  },
  no_contact: {
    said: 'it lies beyond this machine, and the user agent does not say who runs the crawl',
    follows: REFUSED_HERE,
    advice: 'Name a URL or an address in `userAgent`, then give it as a seed again.',
  },
  out_of_scope: {
    said: 'its host is none of those that the crawl may enter',
    follows: REFUSED_BY_RULE,
    advice: 'Give a URL of that host as a seed, or widen `scope`.',
  },
  too_deep: {
    said: 'it lies further from a seed than the crawl goes',
    follows: REFUSED_BY_RULE,
    advice: 'Raise `maxDepth`, or give it as a seed.',
  },
  excluded: {
    said: 'a pattern that is excluded matches it',
    follows: REFUSED_BY_RULE,
    advice: 'Take that pattern away to have it.',
  },
  filtered: {
    said: 'the URL filter of the program that runs the crawl left it',
    follows: REFUSED_BY_RULE,
    advice: 'Look at the reason that the filter gives.',
  },
  plugin_failed: {
    said: 'a plug-in of the program that runs the crawl failed on it',
    follows:
      'A page that came is kept all the same, without what the plug-in would have made of it; a URL that a filter failed on is not let in.',
    advice: 'The log has what the plug-in said; mend it, then give the URL as a seed with `again`.',
  },
  not_included: {
    said: 'none of the patterns that are included matches it',
    follows: REFUSED_BY_RULE,
    advice: 'Include a pattern that matches it to have it.',
  },
  trap_url_length: {
    said: 'it is longer than real URLs are, as where a site makes them up without end',
    follows: REFUSED_BY_RULE,
    advice: 'If the site is like that, raise `traps.urlCharactersMax`.',
  },
  trap_path_depth: {
    said: 'its path has more segments than real ones have, as where folders lead into folders without end',
    follows: REFUSED_BY_RULE,
    advice: 'If the site is like that, raise `traps.segmentsMax`.',
  },
  trap_repeated_segments: {
    said: 'its path goes through the same segments again and again, as where links lead in circles',
    follows: REFUSED_BY_RULE,
    advice: 'If the site is like that, raise `traps.repeatsMax`.',
  },
  redirect_limit: {
    said: 'it came at the end of more redirects in a row than are followed',
    follows: OVER,
    advice: 'Open the URL by hand: the site may send visitors in circles.',
  },
  redirect_loop: {
    said: 'it redirects back to where its chain of redirects has been, and brings no cookie that is new',
    follows: OVER,
    advice: 'Open the URL by hand: the site may ask for a login, or send visitors in circles.',
  },
  interrupted: {
    said: 'the crawl was being stopped',
    follows: 'It stays queued.',
    advice: null,
  },
};
