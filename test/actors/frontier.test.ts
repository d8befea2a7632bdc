import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frontier, type Props } from '../../src/actors/frontier.js';
import { type Bloom, createBloom } from '../../src/domain/bloom.js';
import type { PriorityClass } from '../../src/domain/record.js';
import type { Candidate } from '../../src/domain/url.js';
import type { Admission, CommitReceipt, HostPart, Part } from '../../src/protocols/commit.js';
import type { Effect } from '../../src/protocols/effects.js';
import type { CrawlEvent } from '../../src/protocols/events.js';
import type { Found, Message } from '../../src/protocols/frontier.js';
import { drawsFrom, WALL_AHEAD_MS } from './support/instants.js';
import { rulesInForce } from '../../src/policy/last-look.js';
import { compileRobots } from '../../src/policy/robots/match.js';
import { readRobots } from '../../src/policy/robots/read.js';
import { candidateOf, hostPart, NO_TOTALS, receiptOf, recordOf, settingsOf } from './support/records.js';
import { of, Stage, told } from './support/stage.js';

function props(changes: Partial<Props> = {}): Props {
  return {
    ...settingsOf(),
    seen: createBloom(10_000),
    totals: NO_TOTALS,
    nextSequence: 100,
    redrives: [],
    lastRedrive: 0,
    activeMin: 2,
    activeMax: 2,
    pagesMax: null,
    waitMs: 30_000,
    ...changes,
  };
}

const listed = (hosts: Extract<Message, { type: 'hostsListed' }>['hosts'] = [], complete = true): Message => ({
  type: 'hostsListed',
  hosts,
  complete,
  notes: [],
  failure: null,
});

function staged(changes: Partial<Props> = {}) {
  const stage = new Stage(frontier, props(changes), 0, drawsFrom(3));
  stage.take();
  return stage;
}
type Front = ReturnType<typeof staged>;

/** Crawling, kept from its end by a host that is active. */
function crawling(changes: Partial<Props> = {}): Front {
  const stage = staged({ activeMin: 3, activeMax: 3, ...changes });
  stage.tell(listed([{ host: 'busy.example', best: 0, wakeAtMs: null }]));
  stage.take();
  return stage;
}

const seed = (urls: readonly string[], command = 1): Message => ({
  type: 'seed',
  command,
  again: false,
  candidates: urls.map((url) => candidateOf(url, { source: 'seed', element: null })),
  refused: [],
});
const found = (candidates: readonly Candidate[], changes: Partial<Found> = {}): Found => ({
  via: 'http://a.example/',
  hopPath: 'L',
  depth: 1,
  seedRedirect: false,
  chain: null,
  robots: [],
  candidates,
  ...changes,
});
const visit = (what: Found | null, part: HostPart = hostPart('a.example', 1)): Message => ({
  type: 'visited',
  part,
  found: what,
});

function partsOf(effects: readonly Effect[]): Part[] {
  return told(effects).flatMap(({ to, message }) =>
    to === 'recorder' && message.type === 'record' ? (message['parts'] as Part[]) : [],
  );
}
const admittedIn = (effects: readonly Effect[]): Admission[] =>
  partsOf(effects).flatMap(({ admitted }) => [...admitted]);
const woken = (effects: readonly Effect[]) =>
  told(effects).flatMap(({ to, message }) =>
    message.type === 'wake' ? [[to.split('/').at(-1), message['wake']] as const] : [],
  );
const events = (effects: readonly Effect[], kind: CrawlEvent['event']) =>
  of(effects, 'announce')
    .map(({ event }) => event)
    .filter(({ event }) => event === kind);
const queueOf = (
  host: string,
  news: PriorityClass | null,
  wakeAtMs: number | null = null,
): CommitReceipt['queues'][number] => ({
  host,
  ready: [],
  heads: [],
  waiting: 0,
  parked: 0,
  blocked: 0,
  wakeAtMs,
  news,
});
const recorded = (parts: readonly Part[], receipt: Partial<CommitReceipt> = {}): Message => ({
  type: 'recorded',
  parts,
  receipt: receiptOf(receipt),
});

describe('admission', () => {
  it('D1: the seeds of one command are one part, first in class, numbered in order', () => {
    const stage = crawling();
    stage.tell(seed(['http://a.example/', 'http://b.example/', 'http://a.example/']));
    const [part] = partsOf(stage.take());
    expect(part).toMatchObject({ kind: 'seed', command: 1 });
    expect(
      part?.admitted.map(({ record, sequence, ifAbsent }) => [record.url, sequence, record.priority, ifAbsent]),
    ).toEqual([
      ['http://a.example/', 100, 0, false],
      ['http://b.example/', 101, 0, false],
    ]);
  });

  it('a seed widens the scope; a link does not leave it', () => {
    const stage = crawling(settingsOf({ scope: 'host' }));
    stage.tell(seed(['http://a.example/']));
    stage.take();
    stage.tell(visit(found([candidateOf('http://a.example/1'), candidateOf('http://b.example/1')])));
    expect(admittedIn(stage.take()).map(({ record }) => record.url)).toEqual(['http://a.example/1']);
  });

  it('P4: what the rules of its finder disallow enters as blocked, with the line that says so, and is told', () => {
    const rules = readRobots(
      new TextEncoder().encode('User-agent: *\nDisallow: /p'),
      'bot',
      'http://a.example/robots.txt',
    );
    const origin = 'http://a.example';
    const copy = { rules, fetchedAtMs: 5, status: 200, validators: null };
    const inForce = rulesInForce(
      origin,
      { phase: 'fresh', ...copy },
      () => compileRobots(rules, `${origin}/robots.txt`),
      6,
    );
    if (inForce === null) throw new Error('nothing is disallowed');
    const stage = crawling();
    const links = ['http://a.example/p', 'http://a.example/q', 'http://b.example/p'].map((url) => candidateOf(url));
    stage.tell(visit(found(links, { robots: [inForce] })));
    const [part] = partsOf(stage.take());
    expect(part?.admitted.map(({ record, sequence }) => [record.url, record.state, sequence])).toEqual([
      ['http://a.example/p', 'blocked_by_robots', 100],
      ['http://a.example/q', 'queued', 101],
      ['http://b.example/p', 'queued', 102],
    ]);
    expect(part?.admitted[0]?.record).toMatchObject({
      robots: { rule: { line: 2, text: 'Disallow: /p' }, fetchedAtMs: 5, status: 200, copy: 'current' },
      attempts: [{ outcome: 'blocked_by_robots', code: 'robots_disallowed', status: null }],
    });
    stage.tell(recorded(part === undefined ? [] : [part]));
    expect(events(stage.take(), 'visit')).toMatchObject([
      { url: 'http://a.example/p', outcome: 'blocked_by_robots', status: null, bytes: 0 },
    ]);
  });

  it('records how it was found: depth and hop path, a class by depth', () => {
    const stage = crawling();
    stage.tell(
      visit(
        found([candidateOf('http://a.example/l'), candidateOf('http://a.example/r', { source: 'redirect' })], {
          depth: 7,
          hopPath: 'LLR',
        }),
      ),
    );
    expect(admittedIn(stage.take()).map(({ record }) => record)).toMatchObject([
      { depth: 8, hopPath: 'LLRL', priority: 4, via: 'http://a.example/', state: 'queued' },
      { depth: 7, hopPath: 'LLRR', priority: 1 },
    ]);
  });

  it('what a page only shows comes a class after the documents of its depth, whatever carried it', () => {
    const stage = crawling();
    const carried = [
      ['a', null],
      ['img', null],
      ['link', 'stylesheet'],
      ['link', 'next'],
      ['header', 'icon'],
      ['form', null],
    ] as const;
    const candidates = carried.map(([element, rel], i) => candidateOf(`http://a.example/${i}`, { element, rel }));
    stage.tell(visit(found(candidates, { depth: 7 })));
    expect(admittedIn(stage.take()).map(({ record }) => record.priority)).toEqual([4, 5, 5, 4, 5, 4]);
    stage.tell(visit(found([candidateOf('http://a.example/deep', { element: 'img' })], { depth: 99 })));
    expect(admittedIn(stage.take()).map(({ record }) => record.priority)).toEqual([7]);
  });

  it('at --max-depth a link is admitted, one deeper it is not; a redirect is no step', () => {
    const stage = crawling(settingsOf({ depthMax: 2 }));
    const candidates = [candidateOf('http://a.example/l'), candidateOf('http://a.example/r', { source: 'redirect' })];
    stage.tell(visit(found(candidates, { depth: 1 })));
    expect(admittedIn(stage.take())).toHaveLength(2);
    const deeper = [candidateOf('http://a.example/l2'), candidateOf('http://a.example/r2', { source: 'redirect' })];
    stage.tell(visit(found(deeper, { depth: 2 })));
    expect(admittedIn(stage.take()).map(({ record }) => record.url)).toEqual(['http://a.example/r2']);
  });

  it('D1: a key is pending until its commit is acknowledged, and only then in the filter', () => {
    const options = props();
    const stage = crawling(options);
    const link = candidateOf('http://a.example/1');
    stage.tell(visit(found([link])));
    const parts = partsOf(stage.take());
    expect([stage.state.pending.has(link.key), options.seen.has(link.key)]).toEqual([true, false]);
    stage.tell(visit(found([link])));
    expect(admittedIn(stage.take())).toEqual([]);
    stage.tell(recorded(parts));
    expect([stage.state.pending.size, options.seen.has(link.key)]).toEqual([0, true]);
    stage.take();
    stage.tell(visit(found([link])));
    expect(admittedIn(stage.take())).toEqual([]);
  });

  it('a link trusts the filter; a seed and a redirect ask the registry in the commit', () => {
    const options = props();
    const urls = ['http://a.example/l', 'http://a.example/r', 'http://a.example/s'] as const;
    for (const url of urls) options.seen.add(candidateOf(url).key);
    const stage = crawling(options);
    stage.tell(visit(found([candidateOf(urls[0]), candidateOf(urls[1], { source: 'redirect' })])));
    stage.tell(seed([urls[2]]));
    expect(admittedIn(stage.take()).map(({ record, ifAbsent }) => [record.url, ifAbsent])).toEqual([
      [urls[1], true],
      [urls[2], true],
    ]);
  });

  it('P6: a redirect’s target gets the chain, also one that the chain has been at; a link never does', () => {
    const stage = crawling(props());
    const [target, link] = [
      candidateOf('http://a.example/r', { source: 'redirect' }),
      candidateOf('http://a.example/l'),
    ];
    const step = (key: string) => ({ key, cookies: 0 });
    const chain = { steps: [step(target.key), step('b'), step(target.key)], cookies: [] };
    stage.tell(visit(found([target], { chain })));
    stage.tell(visit(found([link])));
    expect(admittedIn(stage.take()).map(({ record, ifAbsent }) => [record.url, record.chain, ifAbsent])).toEqual([
      [target.url, chain, true],
      [link.url, null, false],
    ]);
    // While its admission is not yet recorded it is in the queue, or about to be.
    stage.tell(visit(found([target], { chain })));
    expect(admittedIn(stage.take())).toEqual([]);
  });

  it('P6: a seed’s redirect widens the scope to another host of its site, and says so', () => {
    const stage = crawling(settingsOf({ scope: 'host' }, { scopeHosts: ['site.example'] }));
    const target = candidateOf('http://www.site.example/', { source: 'redirect' });
    stage.tell(visit(found([target], { seedRedirect: true }), hostPart('site.example', 1)));
    const effects = stage.take();
    expect(admittedIn(effects)).toHaveLength(1);
    expect(of(effects, 'log')).toMatchObject([
      { event: 'scope_widened', fields: { from: 'site.example', to: 'www.site.example' } },
    ]);
    stage.tell(visit(found([candidateOf('http://www.site.example/2')]), hostPart('www.site.example', 1)));
    expect(admittedIn(stage.take())).toHaveLength(1);
  });

  it('P6: but not to another site, nor by a page that is no seed, nor by a link', () => {
    const cases: [Candidate, boolean][] = [
      [candidateOf('http://other.example/', { source: 'redirect' }), true],
      [candidateOf('http://www.site.example/', { source: 'redirect' }), false],
      [candidateOf('http://www.site.example/'), true],
    ];
    for (const [candidate, seedRedirect] of cases) {
      const stage = crawling(settingsOf({ scope: 'host' }, { scopeHosts: ['site.example'] }));
      stage.tell(visit(found([candidate], { seedRedirect }), hostPart('site.example', 1)));
      const effects = stage.take();
      expect([admittedIn(effects), of(effects, 'log')]).toEqual([[], []]);
    }
  });
});

describe('the rules of the crawl', () => {
  const rulesTold = (effects: readonly Effect[]) =>
    told(effects).flatMap(({ to, message }) =>
      to === 'workbench' && message.type === 'rules' ? [message['rules']] : [],
    );
  const holds = (effects: readonly Effect[]) =>
    told(effects).flatMap(({ to, message }) =>
      to === 'workbench' && (message.type === 'hold' || message.type === 'release') ? [message.type] : [],
    );

  it('a seed that they refuse is told, and the others enter', () => {
    const stage = crawling(settingsOf({ exclude: ['/private/'] }));
    stage.tell(seed(['http://a.example/private/x', 'http://a.example/']));
    expect(partsOf(stage.take())).toMatchObject([
      {
        refused: [{ url: 'http://a.example/private/x', code: 'excluded' }],
        seeds: [{ url: 'http://a.example/' }],
        admitted: [{ record: { url: 'http://a.example/' } }],
      },
    ]);
  });

  it('hosts of seeds are stored with them, each once', () => {
    const stage = crawling(settingsOf({ scope: 'host' }));
    stage.tell(seed(['http://a.example/', 'http://a.example/2', 'http://b.example/']));
    stage.tell(seed(['http://b.example/3']));
    expect(partsOf(stage.take()).map(({ settings }) => settings)).toEqual([
      { scopeHosts: ['a.example', 'b.example'] },
      null,
    ]);
  });

  it('a seed that is refused does not widen the scope', () => {
    const stage = crawling(settingsOf({ scope: 'host', exclude: ['/private/'] }));
    stage.tell(seed(['http://a.example/private/x']));
    const effects = stage.take();
    expect([partsOf(effects).map(({ settings }) => settings), rulesTold(effects)]).toEqual([[null], []]);
    stage.tell(visit(found([candidateOf('http://a.example/1')])));
    expect(admittedIn(stage.take())).toEqual([]);
  });

  it('hosts of seeds are stored in any scope: a later run may have a narrower one', () => {
    const stage = crawling(settingsOf({ scope: 'any' }));
    stage.tell(seed(['http://a.example/']));
    const effects = stage.take();
    expect(partsOf(effects)).toMatchObject([{ settings: { scopeHosts: ['a.example'] } }]);
    expect(rulesTold(effects)).toEqual([]);
  });

  it('P6: a widened scope is stored with the redirect that widened it', () => {
    const stage = crawling(settingsOf({ scope: 'host' }, { scopeHosts: ['site.example'] }));
    const target = candidateOf('http://www.site.example/', { source: 'redirect' });
    stage.tell(visit(found([target], { seedRedirect: true }), hostPart('site.example', 1)));
    const effects = stage.take();
    expect(partsOf(effects)).toMatchObject([{ settings: { scopeHosts: ['www.site.example'] } }]);
    expect(rulesTold(effects)).toHaveLength(1);
    expect(events(effects, 'scope_widened')).toEqual([
      { event: 'scope_widened', from: 'site.example', to: 'www.site.example' },
    ]);
  });

  it('an exclusion holds from the command on, travels with permits, and is answered after its commit', () => {
    const stage = crawling();
    stage.tell({ type: 'change', command: 7, change: { exclude: ['/private/'] } });
    const effects = stage.take();
    const parts = partsOf(effects);
    expect(parts).toMatchObject([{ kind: 'settings', command: 7, settings: { exclusions: ['/private/'] } }]);
    expect(rulesTold(effects)).toMatchObject([{ exclude: [{ text: '/private/' }] }]);
    stage.tell(visit(found([candidateOf('http://a.example/private/1'), candidateOf('http://a.example/1')])));
    expect(admittedIn(stage.take()).map(({ record }) => record.url)).toEqual(['http://a.example/1']);
    stage.tell(recorded(parts));
    const told = stage.take();
    expect(events(told, 'changed')).toMatchObject([{ command: 7, settings: { exclusions: ['/private/'] } }]);
    expect(events(told, 'totals')).toMatchObject([{ notAdmitted: { excluded: 1 } }]);
    stage.tell({ type: 'change', command: 8, change: { admit: ['/private/'] } });
    stage.tell(visit(found([candidateOf('http://a.example/private/2')])));
    expect(admittedIn(stage.take())).toHaveLength(1);
  });

  it('D1: a refusal by rules that were taken back since does not stand: the URL is queued, with a number of its own', () => {
    const attempt = { atMs: 1, outcome: 'refused', code: 'excluded', status: null, tier: 1, durationMs: 0 } as const;
    const from = { queue: 'ready', priority: 2, sequence: 5 } as const;
    const refused = (url: string) => ({
      from,
      to: null,
      record: recordOf(url, { state: 'refused', attempts: [attempt] }),
    });
    const part = hostPart('a.example', 1, {
      moves: [refused('http://a.example/private/1'), refused('http://a.example/secret/2')],
    });
    const stage = crawling();
    stage.tell({ type: 'change', command: 7, change: { exclude: ['/private/', '/secret/'] } });
    stage.tell({ type: 'change', command: 8, change: { admit: ['/private/'] } });
    stage.take();
    stage.tell({ type: 'visited', part, found: null });
    expect(partsOf(stage.take())).toMatchObject([
      {
        moves: [
          { from, to: { queue: 'ready', priority: 2, sequence: 100 }, record: { state: 'queued' } },
          { from, to: null, record: { state: 'refused' } },
        ],
      },
    ]);
  });

  it('a pause holds the permits, a second one changes nothing, and a paused store begins paused', () => {
    const stage = crawling();
    for (const paused of [true, true, false]) stage.tell({ type: 'change', command: 1, change: { paused } });
    expect(holds(stage.take())).toEqual(['hold', 'release']);
    const later = new Stage(frontier, props(settingsOf({}, { paused: true })));
    expect(holds(later.take())).toEqual(['hold']);
  });

  it('B4: a crash undoes what its message had changed, so that the scope is widened once more with its part', () => {
    const stage = crawling(settingsOf({ scope: 'host' }));
    stage.crashOn(seed(['http://a.example/']), 'again');
    const parts = partsOf(stage.take());
    expect(parts).toMatchObject([{ settings: { scopeHosts: ['a.example'] } }]);
  });
});

describe('what a commit brings', () => {
  it('seeds are answered: queued, known, refused', () => {
    const stage = crawling();
    stage.tell({
      ...seed(['http://a.example/', 'http://b.example/']),
      refused: [{ url: 'x:', code: 'url_scheme' }],
    } as Message);
    const parts = partsOf(stage.take());
    stage.tell(recorded(parts, { known: [candidateOf('http://b.example/').key] }));
    expect(events(stage.take(), 'seeded')).toEqual([
      {
        event: 'seeded',
        command: 1,
        queued: ['http://a.example/'],
        known: ['http://b.example/'],
        refused: [{ url: 'x:', code: 'url_scheme' }],
      },
    ]);
  });

  it('a host with news is woken: at work at once, else as its class is drawn', () => {
    const stage = crawling();
    stage.tell(visit(null));
    stage.tell(
      recorded(partsOf(stage.take()), {
        queues: [queueOf('a.example', 2), queueOf('busy.example', 1), queueOf('c.example', null)],
      }),
    );
    expect(woken(stage.take())).toEqual([
      ['busy.example', 2],
      ['a.example', 3],
    ]);
  });

  it('a host without news wakes by its own time', () => {
    const stage = crawling();
    stage.tell(visit(null));
    stage.tell(recorded(partsOf(stage.take()), { queues: [queueOf('a.example', null, WALL_AHEAD_MS + 500)] }));
    stage.pass(499);
    expect(woken(stage.take())).toEqual([]);
    stage.pass(1);
    expect(woken(stage.take()).map(([host]) => host)).toEqual(['a.example']);
  });
});

describe('which hosts are at work', () => {
  it('P7: as many as may be at once; one that rests makes room', () => {
    const stage = staged({ activeMin: 2, activeMax: 2 });
    stage.tell(listed(['a', 'b', 'c'].map((host) => ({ host, best: 2, wakeAtMs: null }))));
    const first = woken(stage.take());
    expect(first).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    stage.tell({ type: 'rested', host: 'a', wake: 1, left: 2, wakeAtMs: null });
    expect(woken(stage.take())).toEqual([['c', 3]]);
    stage.tell({ type: 'rested', host: 'b', wake: 2, left: null, wakeAtMs: null });
    expect(woken(stage.take())).toEqual([['a', 4]]);
  });

  describe('P7: more of them while slots are idle', () => {
    const inLine = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ host: `h${n}`, best: 2 as const, wakeAtMs: null }));
    const asked = (effects: readonly Effect[]) =>
      told(effects).filter(({ message }) => message.type === 'countSpare').length;

    it('asks once a second while hosts stand in line; grows by the slots that are idle, to its bound', () => {
      const stage = staged({ activeMin: 2, activeMax: 6 });
      stage.tell(listed(inLine(10)));
      expect(woken(stage.take())).toHaveLength(2);
      stage.pass(999);
      expect(asked(stage.take())).toBe(0);
      stage.pass(1);
      expect(asked(stage.take())).toBe(1);
      stage.pass(10_000);
      expect(asked(stage.take())).toBe(0);
      stage.tell({ type: 'spareCounted', slots: 3 });
      expect(woken(stage.take())).toHaveLength(3);
      stage.pass(1_000);
      expect(asked(stage.take())).toBe(1);
      stage.tell({ type: 'spareCounted', slots: 3 });
      expect(woken(stage.take())).toHaveLength(1);
    });

    it('does not grow while no slot is idle, and shrinks again, but not below its least', () => {
      const stage = staged({ activeMin: 2, activeMax: 100 });
      stage.tell(listed(inLine(200)));
      stage.tell({ type: 'spareCounted', slots: 0 });
      expect(stage.state.activeLimit).toBe(2);
      stage.tell({ type: 'spareCounted', slots: 50 });
      expect(stage.state.activeLimit).toBe(52);
      stage.tell({ type: 'spareCounted', slots: 0 });
      expect(stage.state.activeLimit).toBe(48);
      for (let n = 0; n < 100; n++) stage.tell({ type: 'spareCounted', slots: 0 });
      expect(stage.state.activeLimit).toBe(2);
    });

    it('a hot host alone, or as many as there is room for, ask for nothing', () => {
      const stage = staged({ activeMin: 2, activeMax: 100 });
      stage.tell(listed(inLine(2)));
      stage.take();
      stage.pass(60_000);
      expect(asked(stage.take())).toBe(0);
      stage.tell({ type: 'spareCounted', slots: 50 });
      expect(stage.state.activeLimit).toBe(2);
    });

    it('B4: a crash while it waits for the count does not end the asking', () => {
      const stage = staged({ activeMin: 2, activeMax: 100 });
      stage.tell(listed(inLine(10)));
      stage.pass(1_000);
      expect(asked(stage.take())).toBe(1);
      stage.crashOn({ type: 'wakeDue' }, 'again');
      stage.take();
      stage.pass(1_000);
      expect(asked(stage.take())).toBe(1);
    });
  });

  it('P2: a host that rests for a long delay comes back to its own line, and the crawl does not end before', () => {
    const stage = staged({ activeMin: 1, activeMax: 1, waitMs: 1_000, totals: { ...NO_TOTALS, urls: 9, ready: 9 } });
    stage.tell(
      listed([
        { host: 'slow', best: 3, wakeAtMs: null },
        { host: 'other', best: 3, wakeAtMs: null },
      ]),
    );
    const wakeAtMs = WALL_AHEAD_MS + 600_000;
    expect(woken(stage.take())).toEqual([['slow', 1]]);
    stage.tell({ type: 'rested', host: 'slow', wake: 1, left: 3, wakeAtMs });
    expect(woken(stage.take())).toEqual([['other', 2]]);
    // A row that is admitted meanwhile, or a retry that falls due later, does not put it off.
    stage.tell(recorded([], { queues: [queueOf('slow', null, wakeAtMs + 600_000)], totals: stage.state.totals }));
    stage.tell({ type: 'rested', host: 'other', wake: 2, left: null, wakeAtMs: null });
    stage.pass(599_999);
    const before = stage.take();
    expect([woken(before), events(before, 'ended')]).toEqual([[], []]);
    stage.pass(1);
    expect(woken(stage.take())).toEqual([['slow', 3]]);
  });

  it('a rest that crossed a later wake is void', () => {
    const stage = staged();
    stage.tell(listed([{ host: 'a', best: 2, wakeAtMs: null }]));
    stage.tell(visit(null));
    stage.tell(recorded(partsOf(stage.take()), { queues: [queueOf('a', 1)] }));
    expect(woken(stage.take())).toEqual([['a', 2]]);
    stage.tell({ type: 'rested', host: 'a', wake: 1, left: null, wakeAtMs: null });
    expect(stage.state.active.get('a')).toBe(2);
    expect(stage.take()).toEqual([]);
  });

  it('what is only blocked is no work: the crawl is done, though its robots.txt falls due', () => {
    const totals = { ...NO_TOTALS, urls: 1 };
    const stage = crawling({ totals });
    const rest = { type: 'rested', host: 'busy.example', wake: 1, left: null } as const;
    stage.tell({ ...rest, wakeAtMs: stage.nowMs + WALL_AHEAD_MS + 1_000 });
    expect(events(stage.take(), 'ended')).toMatchObject([{ reason: 'done' }]);
  });

  it('B4: a host that was set aside is tried again when it has cooled down', () => {
    const stage = crawling({ totals: { ...NO_TOTALS, ready: 1 } });
    stage.tell({ type: 'setAside', name: 'busy.example', coolingMs: 5_000 });
    expect(events(stage.take(), 'ended')).toEqual([]);
    stage.pass(5_000);
    expect(woken(stage.take())).toEqual([]);
    stage.pass(1_000);
    expect(woken(stage.take()).map(([host]) => host)).toEqual(['busy.example']);
  });

  it('a fence goes to the recorder in its place', () => {
    const stage = crawling();
    stage.tell({ type: 'fenceFor', host: 'a.example', epoch: 3 });
    expect(told(stage.take())).toEqual([{ to: 'recorder', message: { type: 'fence', host: 'a.example', epoch: 3 } }]);
  });
});

describe('the start and the end', () => {
  it('lists the hosts in pages, and asks again a second later where it failed', () => {
    const stage = new Stage(frontier, props());
    expect(stage.take()).toEqual([{ do: 'listHosts', after: null, limit: 1_000 }]);
    stage.tell({ type: 'hostsListed', hosts: [], complete: false, notes: [], failure: 'broken' });
    expect(of(stage.take(), 'listHosts')).toEqual([]);
    stage.pass(1_000);
    expect(stage.take()).toEqual([{ do: 'listHosts', after: null, limit: 1_000 }]);
    stage.tell({ ...listed([{ host: 'a', best: 1, wakeAtMs: null }], false), notes: ['poison'] } as Message);
    const effects = stage.take();
    expect(of(effects, 'listHosts')).toEqual([{ do: 'listHosts', after: 'a', limit: 1_000 }]);
    expect(of(effects, 'log')).toMatchObject([{ event: 'row_set_aside' }]);
    stage.tell({ type: 'rested', host: 'a', wake: 1, left: null, wakeAtMs: null });
    expect(events(stage.take(), 'ended')).toEqual([]);
    stage.tell(listed());
    expect(events(stage.take(), 'ended')).toMatchObject([{ reason: 'done' }]);
    stage.tell(listed());
    expect(stage.take()).toEqual([]);
  });

  it('is done when nothing is unacknowledged, nobody is at work or in line', () => {
    const stage = crawling();
    stage.tell(visit(null));
    const parts = partsOf(stage.take());
    stage.tell({ type: 'rested', host: 'busy.example', wake: 1, left: null, wakeAtMs: null });
    expect(events(stage.take(), 'ended')).toEqual([]);
    stage.tell(recorded(parts));
    expect(events(stage.take(), 'ended')).toEqual([{ event: 'ended', reason: 'done', waiting: [] }]);
  });

  it('only-waiting: what falls due within --wait is waited for, what falls due a millisecond later is not', () => {
    for (const [dueInMs, ends] of [
      [30_000, false],
      [30_001, true],
    ] as const) {
      const stage = crawling();
      stage.tell(visit(null));
      stage.tell(recorded(partsOf(stage.take()), { totals: { ...NO_TOTALS, waiting: 1 } }));
      stage.take();
      const wakeAtMs = WALL_AHEAD_MS + dueInMs;
      stage.tell({ type: 'rested', host: 'busy.example', wake: 1, left: null, wakeAtMs });
      const ended = { event: 'ended', reason: 'only-waiting', waiting: [{ host: 'busy.example', wakeAtMs }] };
      expect(events(stage.take(), 'ended')).toEqual(ends ? [ended] : []);
    }
  });

  it('B5: while hardly any host can be reached, what falls due after --wait is waited for; afterwards it is not', () => {
    const stage = crawling();
    stage.tell(visit(null));
    stage.tell(recorded(partsOf(stage.take()), { totals: { ...NO_TOTALS, waiting: 1 } }));
    stage.tell({ type: 'egress', way: 'cut_off' });
    stage.tell({ type: 'rested', host: 'busy.example', wake: 1, left: null, wakeAtMs: WALL_AHEAD_MS + 3_600_000 });
    stage.pass(600_000);
    expect(events(stage.take(), 'ended')).toEqual([]);
    stage.tell({ type: 'egress', way: 'open' });
    expect(events(stage.take(), 'ended')).toMatchObject([{ reason: 'only-waiting' }]);
  });

  it('B5: when nothing is left it is done, whatever can be reached', () => {
    const stage = crawling();
    stage.tell({ type: 'egress', way: 'cut_off' });
    stage.tell({ type: 'rested', host: 'busy.example', wake: 1, left: null, wakeAtMs: null });
    expect(events(stage.take(), 'ended')).toMatchObject([{ reason: 'done' }]);
  });

  it('B5: no host was ever reached: after --wait it ends, though hosts wish to ask; not if one is reached before', () => {
    const cutOff = (changes: Partial<Props> = {}): Front => {
      const stage = crawling(changes);
      stage.tell(visit(null));
      stage.tell(recorded(partsOf(stage.take()), { totals: { ...NO_TOTALS, ready: 1 } }));
      stage.pass(500);
      stage.tell({ type: 'egress', way: 'never_open' });
      return stage;
    };
    const stage = cutOff();
    stage.pass(29_999);
    expect(events(stage.take(), 'ended')).toEqual([]);
    stage.pass(1);
    expect(events(stage.take(), 'ended')).toMatchObject([{ reason: 'unreachable' }]);

    const mended = cutOff();
    mended.pass(29_999);
    mended.tell({ type: 'egress', way: 'open' });
    const endless = cutOff({ waitMs: null });
    const crashed = cutOff();
    crashed.crashOn({ type: 'wakeDue' }, 'again');
    for (const one of [mended, endless, crashed]) one.pass(600_000);
    expect([mended, endless, crashed].map((one) => events(one.take(), 'ended').length)).toEqual([0, 0, 1]);
  });

  it('a daemon goes on for ever', () => {
    const stage = crawling({ waitMs: null });
    stage.tell({ type: 'rested', host: 'busy.example', wake: 1, left: null, wakeAtMs: null });
    expect(events(stage.take(), 'ended')).toEqual([]);
  });

  it('max-pages: ends with the visit that reaches it, not one before; settlements without an answer do not count', () => {
    const stage = crawling({ pagesMax: 2 });
    const visited = (status: number | null): HostPart =>
      hostPart('a.example', 1, {
        visits: [
          {
            record: { url: 'http://a.example/', host: 'a.example' },
            attempt: { atMs: 1, outcome: 'fetched', code: 'ok', status, tier: 1, durationMs: 1 },
            bytes: 3,
          },
        ],
      });
    for (const status of [200, null]) {
      stage.tell(recorded([visited(status)]));
      const effects = stage.take();
      expect([events(effects, 'visit').length, events(effects, 'ended')]).toEqual([1, []]);
    }
    stage.tell(recorded([visited(404)]));
    expect(events(stage.take(), 'ended')).toMatchObject([{ reason: 'max-pages' }]);
  });

  it('B4: an end that a crash swallowed is announced all the same, once', () => {
    const stage = crawling();
    stage.crashOn({ type: 'rested', host: 'busy.example', wake: 1, left: null, wakeAtMs: null }, 'again');
    expect(events(stage.take(), 'ended')).toHaveLength(1);
  });

  it('B4: a crash while listing lists again from the beginning', () => {
    const stage = staged();
    stage.crashOn(listed([{ host: 'a', best: 1, wakeAtMs: null }], false), 'drop');
    const effects = stage.take();
    expect(of(effects, 'listHosts')).toEqual([{ do: 'listHosts', after: null, limit: 1_000 }]);
    expect(woken(effects).map(([host]) => host)).toContain('a');
  });
});

// -- against a model --------------------------------------------------------------------------------------------------

function exactFilter(): Bloom {
  const keys = new Set<string>();
  return { add: (key) => void keys.add(key), has: (key) => keys.has(key), bytes: 0 };
}

/** A store and hosts that answer the frontier, in whatever order a test says. */
class Outside {
  /** Exact: what the frontier does must not hang on which keys a filter confuses. */
  readonly seen = exactFilter();
  readonly stage: Front;
  /** Ready rows of each host in the store. */
  private readonly rows = new Map<string, number>();
  private readonly registry = new Set<string>();
  readonly recording: Part[] = [];
  private readonly entered: string[] = [];
  /** The newest wake that each host has had; null: it rests. */
  readonly wakes = new Map<string, number | null>();
  private lastSequence = 0;
  ended = 0;
  private ticket = 0;

  constructor() {
    this.stage = new Stage(
      frontier,
      props({ seen: this.seen, nextSequence: 1, activeMin: 2, activeMax: 2, waitMs: 1_000 }),
      0,
      drawsFrom(5),
    );
    this.stage.tell(listed([{ host: 'first', best: 0, wakeAtMs: null }]));
    this.rows.set('first', 1);
    this.look();
  }

  tell(message: Message, crashes: 'no' | 'once' | 'twice'): void {
    if (crashes === 'no') this.stage.tell(message);
    else if (crashes === 'once') this.stage.crashOn(message, 'again');
    else this.stage.crashTwiceOn(message);
    this.look();
  }

  private look(): void {
    const effects = this.stage.take();
    this.recording.push(...partsOf(effects));
    for (const [host, wake] of woken(effects)) {
      expect(wake).toBeGreaterThan(this.wakes.get(host as string) ?? 0);
      this.wakes.set(host as string, wake as number);
    }
    const ended = events(effects, 'ended').length;
    this.ended += ended;
    expect(this.ended).toBeLessThanOrEqual(1);
    if (ended === 0) return;
    expect(this.recording).toEqual([]);
    expect([...this.rows.values()].reduce((sum, count) => sum + count, 0)).toBe(0);
  }

  visit(urls: readonly string[], source: 'seed' | 'link' | 'redirect', crashes: 'no' | 'once' | 'twice'): void {
    const candidates = urls.map((url) => candidateOf(url, { source }));
    const message: Message =
      source === 'seed'
        ? { type: 'seed', command: 1, again: false, candidates, refused: [] }
        : visit(found(candidates), hostPart('x', ++this.ticket));
    this.tell(message, crashes);
  }

  /** The oldest parts reach the store, as one batch. */
  commit(count: number, crashes: 'no' | 'once' | 'twice'): void {
    const parts = this.recording.splice(0, count);
    if (parts.length === 0) return;
    const known: string[] = [];
    const news = new Map<string, PriorityClass>();
    for (const { record, sequence, ifAbsent } of parts.flatMap(({ admitted }) => admitted)) {
      expect(sequence).toBeGreaterThan(this.lastSequence);
      this.lastSequence = sequence;
      expect(this.seen.has(record.key) && !ifAbsent, 'in the filter before it was acknowledged').toBe(false);
      if (this.registry.has(record.key)) {
        expect(ifAbsent, `${record.key} admitted twice`).toBe(true);
        known.push(record.key);
        continue;
      }
      this.registry.add(record.key);
      this.entered.push(record.key);
      const before = this.rows.get(record.host) ?? 0;
      if (before === 0) news.set(record.host, record.priority);
      this.rows.set(record.host, before + 1);
    }
    const queues = [...news].map(([host, best]) => queueOf(host, best));
    const ready = [...this.rows.values()].reduce((sum, count) => sum + count, 0);
    this.tell(recorded(parts, { known, queues, totals: { ...NO_TOTALS, ready } }), crashes);
    for (const { record } of parts.flatMap(({ admitted }) => admitted)) expect(this.seen.has(record.key)).toBe(true);
  }

  /** A host that is awake does some of its work and rests. */
  rest(which: number, worked: number, crashes: 'no' | 'once' | 'twice'): void {
    const awake = [...this.wakes].filter(([, wake]) => wake !== null);
    const one = awake[which % Math.max(1, awake.length)];
    if (one === undefined) return;
    const [host, wake] = one;
    const left = Math.max(0, (this.rows.get(host) ?? 0) - worked);
    this.rows.set(host, left);
    this.wakes.set(host, null);
    // What wakes it hears in the meantime it has in its inbox.
    const before = this.stage.state.lastWake;
    this.tell({ type: 'rested', host, wake: wake as number, left: left > 0 ? 2 : null, wakeAtMs: null }, crashes);
    expect(this.stage.state.lastWake).toBeGreaterThanOrEqual(before);
  }

  /** Every host with rows is awake or in line; nobody else's place is taken. */
  check(): void {
    const { state } = this.stage;
    expect(state.active.size).toBeLessThanOrEqual(2);
    for (const [host, count] of this.rows)
      if (count > 0) expect(state.active.has(host) || state.front.lineOf.has(host), `${host} is forgotten`).toBe(true);
    for (const [host, wake] of state.active) expect(this.wakes.get(host)).toBe(wake);
    const keys = this.recording.flatMap(({ admitted }) => admitted.map(({ record }) => record.key));
    expect(new Set(keys)).toEqual(state.pending);
    expect(keys).toHaveLength(state.pending.size);
    expect(state.unacknowledged).toBe(this.recording.length);
  }

  finish(): void {
    for (let round = 0; round < 200 && this.ended === 0; round++) {
      this.commit(10, 'no');
      this.rest(round, 3, 'no');
      this.stage.pass(10);
    }
    expect(this.ended).toBe(1);
    expect(this.stage.state.pending.size).toBe(0);
    expect(new Set(this.entered).size).toBe(this.entered.length);
  }
}

describe('D1, D2, P7, B4 frontier against a model', () => {
  it('admits each key once, forgets no host, and ends exactly when nothing is left', () => {
    const crashes = fc.constantFrom('no', 'no', 'no', 'once', 'twice') as fc.Arbitrary<'no' | 'once' | 'twice'>;
    const url = fc
      .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 6 }))
      .map(([host, page]) => `http://h${host}.example/${page}`);
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('visit' as const),
          urls: fc.array(url, { maxLength: 4 }),
          source: fc.constantFrom('seed' as const, 'link' as const, 'redirect' as const),
          crashes,
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('commit' as const), count: fc.integer({ min: 1, max: 3 }), crashes }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('rest' as const), which: fc.nat(5), worked: fc.nat(4), crashes }),
      },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const outside = new Outside();
        for (const one of steps) {
          if (outside.ended > 0) break;
          if (one.do === 'visit') outside.visit(one.urls, one.source, one.crashes);
          else if (one.do === 'commit') outside.commit(one.count, one.crashes);
          else outside.rest(one.which, one.worked, one.crashes);
          if (outside.ended === 0) outside.check();
        }
        outside.finish();
      }),
      { numRuns: 200 },
    );
  });
});
