/**
 * The truth about a practice web: what a polite crawler must have found when it is done.
 *
 * Walked over the description, never over the log or the wire. Robots rules, `rel=nofollow` and redirects bind the walk
 * as they bind a crawler; failures that heal don't show.
 */
import { ALLOW_ALL, isAllowed, type RobotsRules, rulesFor } from './robots-matcher.js';
import type { PracticeHost, PracticeWeb, Target } from './web.js';

export interface Truth {
  readonly seed: number;
  readonly profile: string;
  /** The product token for which robots rules were read. */
  readonly agent: string;
  readonly seeds: readonly string[];
  /** Every URL that must have been asked for, with the status that it finally answers. The lists below part them. */
  readonly reachable: readonly { readonly url: string; readonly status: number }[];
  /** Finally 200. */
  readonly pages: readonly string[];
  /** Finally 404. */
  readonly missing: readonly string[];
  /** Finally 410. */
  readonly gone: readonly string[];
  readonly redirects: readonly { readonly url: string; readonly status: number; readonly location: string }[];
  /** 500 for ever. */
  readonly failing: readonly string[];
  /** 200, and a body that ends only at the server's bound. */
  readonly endless: readonly string[];
  /** 200, and whoever reads it crashes, each time: an engine that obeys must set it aside and lose nothing else. */
  readonly crashing: readonly string[];
  /** Linked or redirected to, but disallowed by robots.txt. */
  readonly forbidden: readonly string[];
  /** Linked with `rel=nofollow` alone: right to leave out, allowed by robots all the same. */
  readonly nofollow: readonly string[];
  readonly hosts: readonly {
    readonly host: string;
    readonly origin: string;
    readonly pages: number;
    readonly robots: string;
    readonly crawlDelaySeconds: number | null;
  }[];
}

type Lists = {
  -readonly [K in
    | 'reachable'
    | 'pages'
    | 'missing'
    | 'gone'
    | 'redirects'
    | 'failing'
    | 'endless'
    | 'crashing']: Truth[K][number][];
};

/** `authority` gives the `host[:port]` of URLs; `agent` is the crawler's product token. */
export function truthOf(web: PracticeWeb, authority: (host: PracticeHost) => string, agent: string): Truth {
  const rules = web.hosts.map((host) => robotsRulesOf(host, agent));
  const urlOf = ({ host, path }: Target): string => `http://${authority(host)}${path}`;
  const lists: Lists = {
    ...{ reachable: [], pages: [], missing: [], gone: [] },
    ...{ redirects: [], failing: [], endless: [], crashing: [] },
  };
  const seen = new Set<string>();
  const forbidden: string[] = [];
  const nofollowed = new Set<string>();
  const due: Target[] = [];

  const meet = (target: Target): void => {
    const url = urlOf(target);
    if (seen.has(url)) return;
    seen.add(url);
    if (isAllowed(rules[target.host.index] ?? ALLOW_ALL, target.path)) due.push(target);
    else forbidden.push(url);
  };

  web.seeds.forEach(meet);
  for (let target = due.pop(); target !== undefined; target = due.pop()) {
    const ways = arrive(web, target, urlOf, lists);
    for (const way of ways) {
      if (!way.nofollow) meet(way);
      else if (isAllowed(rules[way.host.index] ?? ALLOW_ALL, way.path)) nofollowed.add(urlOf(way));
    }
  }

  return {
    seed: web.settings.seed,
    profile: web.settings.profile,
    agent,
    seeds: web.seeds.map(urlOf),
    ...lists,
    forbidden,
    nofollow: [...nofollowed].filter((url) => !seen.has(url)),
    hosts: web.hosts.map((host, index) => ({
      host: host.name,
      origin: `http://${authority(host)}`,
      pages: host.pageCount,
      robots: host.robots.kind,
      crawlDelaySeconds: rules[index]?.crawlDelaySeconds ?? null,
    })),
  };
}

function robotsRulesOf(host: PracticeHost, agent: string): RobotsRules {
  return host.robots.final.kind === 'text' ? rulesFor(host.robots.final.text, agent) : ALLOW_ALL;
}

type Way = Target & { readonly nofollow: boolean };

/** Books a URL under what it finally is; where its links and redirects lead. */
function arrive(web: PracticeWeb, target: Target, urlOf: (target: Target) => string, lists: Lists): Way[] {
  const { host, path } = target;
  const url = urlOf(target);
  const redirected = (status: number, location: Target): Way[] => {
    lists.reachable.push({ url, status });
    lists.redirects.push({ url, status, location: urlOf(location) });
    return [{ ...location, nofollow: false }];
  };
  const booked = (list: string[], status: number): void => {
    lists.reachable.push({ url, status });
    list.push(url);
  };

  const resource = web.resolve(host, path);
  if (resource.kind === 'unknown') throw new Error(`the web links to ${url}, which it does not know`);
  if (resource.kind === 'hop') return redirected(resource.status, resource.location);
  const { final } = resource.behaviour;
  if (web.crashing?.host === host && web.crashing.path === path) {
    booked(lists.crashing, 200);
    return [];
  }
  switch (final.kind) {
    case 'redirect':
    case 'chain':
      return redirected(final.status, web.redirectOf(host, resource.page));
    case 'page':
    case 'nofollow':
      booked(lists.pages, 200);
      return web.linksOf(host, resource.page);
    case 'empty':
    case 'binary':
      booked(lists.pages, 200);
      return [];
    case 'missing':
      booked(lists.missing, 404);
      return [];
    case 'gone':
      booked(lists.gone, 410);
      return [];
    case 'failing':
      booked(lists.failing, 500);
      return [];
    case 'endless':
      booked(lists.endless, 200);
      return [];
  }
}
