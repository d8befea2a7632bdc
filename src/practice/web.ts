/**
 * The description of the practice web: many sites, drawn from a seed.
 *
 * A site is a tree of numbered pages (page p links to pages b·p+1 … b·p+b), and so are the sites among themselves;
 * further links go anywhere. A URL and a number stand for each other, so nothing is stored per page and a web of a
 * million pages costs no memory. The description knows no port and no time: server, truth and tests read it alike.
 *
 * 1. The same settings give the same web, page for page and byte for byte (but for the port in absolute links).
 * 2. Each page can be reached from its site's `/`, each site from a seed, where robots and `nofollow` don't forbid.
 * 3. What a URL finally is depends on nothing but the settings.
 */
import { mix, pick } from './dice.js';
import {
  type Behaviour,
  behaviourOf,
  DEMANDING_MIXTURE,
  FAULTY_MIXTURE,
  type Mixture,
  ORDINARY_MIXTURE,
  PLAIN_MIXTURE,
} from './faults.js';
import {
  DEMANDING_ROBOTS,
  FAULTY_ROBOTS,
  ORDINARY_ROBOTS,
  QUIET_ROBOTS,
  type RobotsFile,
  type RobotsKindName,
  robotsFile,
  SLOW_ROBOTS,
} from './robots-kinds.js';

export type ProfileName = 'ordinary' | 'faulty' | 'demanding' | 'walled' | 'wide' | 'deep' | 'flat';

export interface WebSettings {
  readonly seed: number;
  readonly profile: ProfileName;
  readonly hosts: number;
  /** Of all sites together; never fewer than hosts. */
  readonly pages: number;
  /** Size of an HTML page in bytes; `varied` draws one between 2 and 32 KB. */
  readonly pageBytes: number | 'varied';
  /** Links on a page; links to the pages below it are never left out. */
  readonly linksPerPage: number;
  /** How many pages hang from a page. */
  readonly branching: number;
  /** How many hosts' `/` are seeds. */
  readonly seedHosts: number;
  /** `*` stands for the host's number, in four digits or more. */
  readonly hostPattern: string;
  /** The crawler that the robots.txt files with several groups speak to. */
  readonly productToken: string;
  /** Adds leaves that answer 500 for ever, and leaves that drip until the server's bound. */
  readonly hopeless: boolean;
  /** Lets one leaf crash whatever reads it, each time; obeyed by an engine that was told to (see `crashing`). */
  readonly crashing: boolean;
}

export interface PracticeHost {
  readonly index: number;
  readonly name: string;
  readonly pageCount: number;
  readonly robots: RobotsFile;
}

/** A place in the web, without port. */
export interface Target {
  readonly host: PracticeHost;
  /** Path and query. */
  readonly path: string;
}

export interface Link extends Target {
  readonly nofollow: boolean;
}

/** What a URL stands for. */
export type Resource =
  | { readonly kind: 'page'; readonly page: number; readonly behaviour: Behaviour }
  | { readonly kind: 'hop'; readonly status: number; readonly location: Target }
  | { readonly kind: 'unknown' };

export interface PracticeWeb {
  readonly settings: WebSettings;
  readonly hosts: readonly PracticeHost[];
  readonly seeds: readonly Target[];
  hostNamed(name: string): PracticeHost | undefined;
  pathOf(host: PracticeHost, page: number): string;
  resolve(host: PracticeHost, path: string): Resource;
  linksOf(host: PracticeHost, page: number): Link[];
  /** Where a page that redirects leads at once. */
  redirectOf(host: PracticeHost, page: number): Target;
  /** The page whose answer asks the reader to crash; null where none does. */
  readonly crashing: Target | null;
}

interface Profile {
  readonly defaults: Omit<WebSettings, 'seed' | 'profile' | 'hostPattern' | 'productToken' | 'hopeless' | 'crashing'>;
  readonly sizes: 'zipf' | 'even';
  readonly robots: readonly RobotsKindName[];
  /** Of the last hosts of a web of many: robots.txt files that cost a crawl a minute or more. */
  readonly slowRobots?: readonly RobotsKindName[];
  readonly mixture: Mixture;
  /** Leaves in sections that robots.txt files speak of. */
  readonly sections: boolean;
}

const PROFILES: Record<ProfileName, Profile> = {
  ordinary: {
    defaults: { hosts: 40, pages: 600, pageBytes: 'varied', linksPerPage: 16, branching: 8, seedHosts: 4 },
    sizes: 'zipf',
    robots: ORDINARY_ROBOTS,
    mixture: ORDINARY_MIXTURE,
    sections: true,
  },
  faulty: {
    defaults: { hosts: 40, pages: 600, pageBytes: 'varied', linksPerPage: 16, branching: 8, seedHosts: 4 },
    sizes: 'zipf',
    robots: FAULTY_ROBOTS,
    mixture: FAULTY_MIXTURE,
    sections: true,
  },
  demanding: {
    defaults: { hosts: 1_000, pages: 6_000, pageBytes: 2_000, linksPerPage: 6, branching: 4, seedHosts: 1_000 },
    sizes: 'even',
    robots: DEMANDING_ROBOTS,
    slowRobots: SLOW_ROBOTS,
    mixture: DEMANDING_MIXTURE,
    sections: true,
  },
  walled: {
    defaults: { hosts: 8, pages: 64, pageBytes: 'varied', linksPerPage: 8, branching: 4, seedHosts: 4 },
    sizes: 'even',
    robots: QUIET_ROBOTS,
    mixture: PLAIN_MIXTURE,
    sections: false,
  },
  wide: {
    defaults: { hosts: 2000, pages: 10_000, pageBytes: 8_000, linksPerPage: 20, branching: 4, seedHosts: 1 },
    sizes: 'even',
    robots: QUIET_ROBOTS,
    mixture: PLAIN_MIXTURE,
    sections: false,
  },
  deep: {
    defaults: { hosts: 4, pages: 2_000, pageBytes: 8_000, linksPerPage: 3, branching: 1, seedHosts: 4 },
    sizes: 'even',
    robots: QUIET_ROBOTS,
    mixture: PLAIN_MIXTURE,
    sections: false,
  },
  flat: {
    defaults: { hosts: 500, pages: 50_000, pageBytes: 20_000, linksPerPage: 40, branching: 20, seedHosts: 500 },
    sizes: 'even',
    robots: QUIET_ROBOTS,
    mixture: PLAIN_MIXTURE,
    sections: false,
  },
};

/** One host of so many, from that number on, is one that takes a minute or more. */
const SLOW_HOSTS_OF = 100;
/** Sites that hang from a site. */
const HOST_BRANCHING = 8;
const ORDINARY_SECTIONS = ['articles', 'news', 'library', 'people', 'places'] as const;

/** Describes a web. What is left out comes from the profile (`ordinary` unless named), the seed from 1. */
export function practiceWeb(partial: Partial<WebSettings> = {}): PracticeWeb {
  const profile = PROFILES[partial.profile ?? 'ordinary'];
  const settings: WebSettings = {
    seed: 1,
    profile: 'ordinary',
    hostPattern: 'host-*.practice.test',
    productToken: 'ExampleBot',
    hopeless: false,
    crashing: false,
    ...profile.defaults,
    ...partial,
  };
  checkSettings(settings);
  return new DrawnWeb(settings, profile);
}

function checkSettings({ hosts, pages, branching, linksPerPage, hostPattern, pageBytes }: WebSettings): void {
  if (!(hosts >= 1 && pages >= hosts)) throw new RangeError('a practice web needs a host, and a page for each host');
  if (!(branching >= 1 && linksPerPage >= 0)) throw new RangeError('branching starts at 1, linksPerPage at 0');
  if (pageBytes !== 'varied' && !(pageBytes >= 1)) throw new RangeError('pageBytes starts at 1');
  if (!/^[a-z0-9.-]*\*[a-z0-9.-]*$/.test(hostPattern))
    throw new RangeError('hostPattern needs one * in a lower-case name');
}

/** A web that is drawn anew at each question. */
class DrawnWeb implements PracticeWeb {
  readonly hosts: readonly PracticeHost[];
  readonly seeds: readonly Target[];
  readonly crashing: Target | null;
  readonly #byName: ReadonlyMap<string, PracticeHost>;
  readonly #mixture: Mixture;
  readonly #hasSections: boolean;

  constructor(
    readonly settings: WebSettings,
    profile: Profile,
  ) {
    this.hosts = describeHosts(settings, profile);
    this.seeds = this.hosts.slice(0, Math.max(1, settings.seedHosts)).map((host) => ({ host, path: '/' }));
    this.#byName = new Map(this.hosts.map((host) => [host.name, host]));
    this.#mixture = settings.hopeless ? withHopeless(profile.mixture) : profile.mixture;
    this.#hasSections = profile.sections;
    this.crashing = settings.crashing ? this.#chooseCrashing() : null;
  }

  hostNamed(name: string): PracticeHost | undefined {
    return this.#byName.get(name);
  }

  pathOf(host: PracticeHost, page: number): string {
    if (page === 0) return '/';
    const bits = this.#draw(host, page, 21);
    const guarded = this.#hasSections && this.#isLeaf(host, page) ? guardedPath(page, bits % 100) : undefined;
    return guarded ?? `/${pick(ORDINARY_SECTIONS, bits >>> 8)}/p${page}.html`;
  }

  resolve(host: PracticeHost, path: string): Resource {
    const hop = /^\/chain\/h(\d+)-p(\d+)\/([1-9]\d*)$/.exec(path);
    if (hop !== null) return this.#resolveHop({ host, path }, Number(hop[1]), Number(hop[2]), Number(hop[3]));
    const page = path === '/' ? 0 : Number(/(?:\/p|open-|\?id=)(\d+)/.exec(path)?.[1] ?? Number.NaN);
    if (!(page < host.pageCount) || this.pathOf(host, page) !== path) return { kind: 'unknown' };
    return { kind: 'page', page, behaviour: this.#behaviour(host, page) };
  }

  /** Sites that hang from this one, pages that hang from this one, then any. */
  linksOf(host: PracticeHost, page: number): Link[] {
    const { branching, linksPerPage } = this.settings;
    const sites = page === 0 ? childrenOf(host.index, HOST_BRANCHING, this.hosts.length) : [];
    const links = [
      ...sites.map((index) => this.#linkTo(pick(this.hosts, index), 0)),
      ...childrenOf(page, branching, host.pageCount).map((child) => this.#linkTo(host, child)),
    ];
    for (let salt = 100; links.length < linksPerPage; salt++) {
      const bits = this.#draw(host, page, salt);
      const target = bits % 4 === 0 ? pick(this.hosts, bits >>> 3) : host;
      links.push(this.#linkTo(target, this.#draw(host, page, -salt) % target.pageCount));
    }
    return links;
  }

  redirectOf(host: PracticeHost, page: number): Target {
    const { final } = this.#behaviour(host, page);
    return final.kind === 'chain' ? this.#hop(host, page, 1, final.hops) : this.#arrival(host, page);
  }

  #draw(host: PracticeHost, page: number, salt: number): number {
    return mix(this.settings.seed, host.index, page, salt);
  }

  #isLeaf(host: PracticeHost, page: number): boolean {
    return this.settings.branching * page + 1 >= host.pageCount;
  }

  #behaviour(host: PracticeHost, page: number): Behaviour {
    return behaviourOf(this.#mixture, this.settings.seed, host.index, page, page > 0 && this.#isLeaf(host, page));
  }

  #linkTo(host: PracticeHost, page: number): Link {
    return { host, path: this.pathOf(host, page), nofollow: this.#behaviour(host, page).final.kind === 'nofollow' };
  }

  /** The last page of the first site where that is an ordinary one which no robots.txt speaks of. */
  #chooseCrashing(): Target {
    for (const host of this.hosts) {
      const page = host.pageCount - 1;
      const path = this.pathOf(host, page);
      const { final } = this.#behaviour(host, page);
      const isOpen =
        host.robots.kind !== 'closed' && ORDINARY_SECTIONS.some((section) => path.startsWith(`/${section}/`));
      if (page > 0 && isOpen && final.kind === 'page') return { host, path };
    }
    throw new RangeError('no page of this web is fit to crash its reader');
  }

  /** Anywhere but to itself, or to a page that only `nofollow` leads to: being redirected there would be a way in. */
  #arrival(host: PracticeHost, page: number): Target {
    const bits = this.#draw(host, page, 31);
    const target = bits % 3 === 0 ? pick(this.hosts, bits >>> 4) : host;
    const { path, nofollow } = this.#linkTo(target, (bits >>> 6) % target.pageCount);
    const unfit = nofollow || (target === host && path === this.pathOf(host, page));
    return { host: target, path: unfit ? '/' : path };
  }

  /** Hops stand on another host and on the page's own in turn; step 1 is the first hop after the page itself. */
  #hop(host: PracticeHost, page: number, step: number, hops: number): Target {
    if (step > hops) return this.#arrival(host, page);
    const serving = step % 2 === 1 ? pick(this.hosts, this.#draw(host, page, 32)) : host;
    return { host: serving, path: `/chain/h${host.index}-p${page}/${step}` };
  }

  #resolveHop(asked: Target, hostIndex: number, page: number, step: number): Resource {
    const host = this.hosts[hostIndex];
    if (host === undefined || page >= host.pageCount) return { kind: 'unknown' };
    const { final } = this.#behaviour(host, page);
    if (final.kind !== 'chain' || step > final.hops) return { kind: 'unknown' };
    const here = this.#hop(host, page, step, final.hops);
    if (here.host !== asked.host || here.path !== asked.path) return { kind: 'unknown' };
    return { kind: 'hop', status: final.status, location: this.#hop(host, page, step + 1, final.hops) };
  }
}

/** A fifth of the leaves stand where some robots.txt speaks of; `percent` is drawn from 0 to 99. */
function guardedPath(page: number, percent: number): string | undefined {
  if (percent < 7) return `/private/p${page}.html`;
  if (percent < 10) return `/private/open-${page}.html`;
  if (percent < 14) return `/archive/p${page}.tmp`;
  if (percent < 18) return `/search?id=${page}`;
  return undefined;
}

function describeHosts(settings: WebSettings, profile: Profile): PracticeHost[] {
  const sizes = profile.sizes === 'zipf' ? zipfSizes(settings) : evenSizes(settings);
  const slowFrom = settings.hosts - Math.floor(settings.hosts / SLOW_HOSTS_OF);
  const { slowRobots = [] } = profile;
  return sizes.map((pageCount, index) => {
    const isHostLeaf = HOST_BRANCHING * index + 1 >= settings.hosts && index >= settings.seedHosts;
    const kinds = slowRobots.length > 0 && index >= slowFrom ? slowRobots : profile.robots;
    const drawn = pick(kinds, index + (settings.seed % kinds.length));
    const kind = drawn === 'closed' && !isHostLeaf ? 'allow' : drawn;
    return {
      index,
      name: settings.hostPattern.replace('*', String(index + 1).padStart(4, '0')),
      pageCount,
      robots: robotsFile(kind, settings.productToken, pageCount),
    };
  });
}

/** Shares ∝ 1/rank, at least one page each, in all exactly `pages`; the ranks are dealt out by seed. */
function zipfSizes({ seed, hosts, pages }: WebSettings): number[] {
  const order = Array.from({ length: hosts }, (_, index) => index).sort(
    (a, b) => mix(seed, a, 0, 41) - mix(seed, b, 0, 41),
  );
  const harmonic = order.reduce((sum, _, rank) => sum + 1 / (rank + 1), 0);
  const spare = pages - hosts;
  const sizes = new Array<number>(hosts).fill(1);
  let given = 0;
  order.forEach((host, rank) => {
    const share = Math.floor(spare / (rank + 1) / harmonic);
    sizes[host] = 1 + share;
    given += share;
  });
  const largest = order[0] ?? 0;
  sizes[largest] = (sizes[largest] ?? 1) + spare - given;
  return sizes;
}

function evenSizes({ hosts, pages }: WebSettings): number[] {
  return Array.from({ length: hosts }, (_, index) => Math.floor(pages / hosts) + Number(index < pages % hosts));
}

function childrenOf(node: number, branching: number, count: number): number[] {
  const first = branching * node + 1;
  return Array.from({ length: Math.max(0, Math.min(branching, count - first)) }, (_, n) => first + n);
}

function withHopeless(mixture: Mixture): Mixture {
  return { ...mixture, leaves: [['failing', 0.02], ['endless', 0.01], ...mixture.leaves] };
}
