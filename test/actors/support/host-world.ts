/**
 * A world for one host's actor: a store, a workbench, a fetcher, a parser, a resolver and another host, each of which
 * answers when it is told to, in any order; and a watcher of what the host does with the answers.
 */
import { responseOf } from './responses.js';
import { expect } from 'vitest';
import { host } from '../../../src/actors/host.js';
import type { Props } from '../../../src/actors/host-state.js';
import type { FetchRequest, FetchResult, Resolution } from '../../../src/domain/fetching.js';
import type { ParseResult } from '../../../src/domain/parsing.js';
import type { PriorityClass, QueueEntry } from '../../../src/domain/record.js';
import { BREAKER_TERMS } from '../../../src/policy/breaker.js';
import type { Fault } from '../../../src/policy/egress.js';
import type { OriginRobots } from '../../../src/policy/robots/freshness.js';
import type { HostPart } from '../../../src/protocols/commit.js';
import type { BlockedRows, Effect, QueueHead } from '../../../src/protocols/effects.js';
import type { Errand, Message, RobotsFound } from '../../../src/protocols/host.js';
import type { HostSnapshot } from '../../../src/protocols/host-snapshot.js';
import type { Ask, Doubt, NetworkWord, Overdue, Permit, Verdict } from '../../../src/protocols/workbench.js';
import { CHALLENGE_TERMS } from '../../support/challenge-terms.js';
import { drawsFrom, WALL_AHEAD_MS } from './instants.js';
import { ANY_RULES, candidateOf, headOf, readyEntry } from './records.js';
import { of, Stage, told } from './stage.js';

export const NAME = 'a.example';

export const PROPS: Props = {
  name: NAME,
  userAgent: 'bot/1.0 (+https://bot.example/)',
  startedAtMs: 0,
  productToken: 'bot',
  delayMs: 100,
  adaptiveFactor: 0,
  addressExempt: [],
  requestMsMax: 20_000,
  robotsMsMax: 10_000,
  bodyBytesMax: 1_000,
  decodedBytesMax: 1_000,
  headerBytesMax: 1_000,
  linksMax: 10,
  links: { embeds: true, forms: false, nofollow: 'skip' },
  robotsMeta: { obeyed: true, productToken: 'TestBot' },
  challenge: CHALLENGE_TERMS,
  archive: false,
  metadata: false,
  parserThreads: 2,
  ladder: { tiers: [1], memoryMs: 21_600_000 },
  retryLateMs: 3_600_000,
  browserMsMax: 30_000,
  browserMsPerDay: 600_000,
  retry: { schedule: [2_000, 10_000, 30_000, 60_000, 120_000], deliveriesMax: 8 },
  retryBudget: { share: 0, perMinute: 60_000 },
  window: 3,
  quota: 4,
  openMax: 3,
  breaker: BREAKER_TERMS,
  idleMs: 10_000,
};

/** How a request may end. */
export type Answer =
  | 'ok'
  | 'redirect home'
  | 'redirect away'
  | 'sent back'
  | 'missing'
  | 'forbidden'
  | 'throttled'
  | 'later'
  | 'broken'
  | 'refused'
  | 'stale'
  | 'truncated'
  | 'interrupted'
  | 'crashed';

interface Flight {
  readonly permit: Permit;
  readonly request: FetchRequest;
  readonly incarnation: number;
}

interface Reading {
  readonly permit: number;
  readonly url: string;
  readonly redirect: string | null;
}

type Wish = { readonly part: HostPart; readonly incarnation: number } | { readonly fence: number };

type LoadOrRead =
  | { readonly ask: 'load' }
  | { readonly ask: 'read'; readonly from: readonly number[]; readonly limit: number }
  | { readonly ask: 'blocked'; readonly rows: BlockedRows };

export class HostWorld {
  stage = new Stage(host, PROPS, 0, drawsFrom(11)); // not alive before its first message
  private alive = false;
  private nextSequence = 1;
  // The store.
  readonly rows = new Map<number, QueueEntry>();
  readonly left: string[] = [];
  private heads: readonly number[] = new Array<number>(8).fill(0);
  private snapshot: HostSnapshot | null = null;
  private readonly robots = new Map<string, OriginRobots>();
  private readonly recording: Wish[] = [];
  /** What was asked of the store, and what it showed at that moment. */
  private asked: { readonly what: LoadOrRead; readonly head: QueueHead } | null = null;
  private resolving = false;
  // The workbench, the fetcher, the parser.
  private ask: Ask | null = null;
  private lastPermit = 0;
  private readonly unspent = new Set<number>();
  flight: Flight | null = null;
  readonly reading: Reading[] = [];
  readonly verdictOwed = new Map<number, number>();
  /** Of requests whose host crashed: a verdict may come for them, and then it must be long enough. */
  readonly verdictPossible = new Map<number, number>();
  // The frontier.
  private lastWake = 0;
  private awake: number | null = null;
  private inLine = false;
  private wakeAtMs: number | null = null;
  // The other host.
  private readonly errandsOut: (Errand & { readonly atMs: number })[] = [];
  /** Failures of which the host wants to know whose fault they are. */
  readonly doubts: Doubt[] = [];
  errandsIn = 0;
  errandsDone = 0;
  /** Requests with a cookie. */
  carried = 0;
  // What is known.
  private readonly disallows = new Map<string, boolean>();
  private readonly hops = new Map<string, number>();
  requests = 0;
  rests = 0;
  /** Rows that its commits wrote. */
  written = 0;
  /** Rows that the store showed it. */
  shown = 0;

  // -- what happens ---------------------------------------------------------------------------------------------------

  /** A message reaches the host, or is in its hand when it crashes. */
  private tell(message: Message, crashes = false): void {
    if (!this.alive) {
      this.stage = new Stage(host, PROPS, this.stage.nowMs, this.stage.draw);
      this.alive = true;
      this.look();
    }
    if (crashes) {
      this.forgetIncarnation();
      this.stage.crashOn(message, 'drop');
      this.look();
      // What the restart did not say is never said: the gate waits for the longest.
      for (const [permit, leastMs] of this.verdictOwed) this.verdictPossible.set(permit, leastMs);
      this.verdictOwed.clear();
      return;
    }
    this.stage.tell(message);
    this.look();
  }

  private forgetIncarnation(): void {
    this.asked = null;
    this.resolving = false;
    this.ask = null;
    this.reading.length = 0;
    this.unspent.clear();
    this.errandsOut.length = 0;
    this.doubts.length = 0;
  }

  /** A row enters by somebody else's commit. */
  admit(path: string, scheme: 'http' | 'https', priority: PriorityClass): void {
    const sequence = this.nextSequence++;
    const before = this.bestReady();
    this.rows.set(sequence, readyEntry(`${scheme}://${NAME}${path}?${sequence}`, sequence, { priority }));
    if (before === null) this.heads = this.heads.map((head, p) => (p === priority ? sequence : head));
    this.news(before);
  }

  /** So many rows that stand there before it is woken. */
  fill(count: number): void {
    for (let i = 0; i < count; i++) {
      const sequence = this.nextSequence++;
      this.rows.set(sequence, readyEntry(`http://${NAME}/p?${sequence}`, sequence, { priority: 1 }));
    }
    this.inLine = true;
  }

  /** The frontier hears only where the best class is better than before. */
  private news(before: number | null): void {
    const after = this.bestReady();
    if (after === null || (before !== null && before <= after)) return;
    if (this.awake !== null) this.wake();
    else this.inLine = true;
  }

  wake(crashes = false): void {
    this.inLine = false;
    this.wakeAtMs = null;
    this.awake = ++this.lastWake;
    this.tell({ type: 'wake', wake: this.awake }, crashes);
  }

  /** Its turn has come, or its time. */
  wakeIfDue(crashes = false): void {
    const isDue = this.wakeAtMs !== null && this.wakeAtMs <= WALL_AHEAD_MS + this.stage.nowMs;
    if (this.awake === null && (this.inLine || isDue)) this.wake(crashes);
  }

  answerStore(fails: boolean, crashes = false): void {
    if (this.asked === null) return;
    const { what, head } = this.asked;
    this.asked = null;
    const shown = fails ? { ...headOf(), readyComplete: false, failure: 'broken' } : head;
    if (what.ask === 'blocked') {
      const rows = fails ? { ...what.rows, entries: [], complete: false, failure: 'broken' } : what.rows;
      return this.tell({ type: 'blockedRead', host: NAME, rows }, crashes);
    }
    if (what.ask === 'read') return this.tell({ type: 'queueRead', host: NAME, head: shown }, crashes);
    const robots = [...this.robots].map(([origin, state]) => ({ origin, state }));
    const summary = {
      host: NAME,
      ready: [],
      heads: this.heads,
      waiting: 0,
      parked: 0,
      blocked: this.blocked().length,
      wakeAtMs: null,
    };
    const { snapshot } = this;
    this.tell({ type: 'hostLoaded', host: NAME, snapshot, robots, summary, head: shown }, crashes);
  }

  resolve(resolution: Resolution, crashes = false): void {
    if (!this.resolving) return;
    this.resolving = false;
    this.tell({ type: 'resolved', host: NAME, resolution }, crashes);
  }

  grant(crashes = false): void {
    if (this.ask === null || this.flight !== null) return;
    const { address } = this.ask;
    this.ask = null;
    const { nowMs } = this.stage;
    const permit: Permit = {
      number: ++this.lastPermit,
      host: NAME,
      address,
      tier: 1,
      fetcher: 0,
      delivery: 'retry',
      expiresAtMs: nowMs + 5_000,
      deadlineMs: nowMs + 25_000,
      rules: ANY_RULES,
    };
    if (!crashes) this.unspent.add(permit.number);
    this.tell({ type: 'granted', permit }, crashes);
    expect(this.unspent.size, 'a permit was neither spent nor returned').toBe(0);
  }

  land(answer: Answer, crashes = false): void {
    const { flight } = this;
    if (flight === null) return;
    this.flight = null;
    const permit = flight.permit.number;
    const isOurs = flight.incarnation === this.stage.incarnation && this.alive;
    const hunted = originHunted(flight.request.url);
    // RFC 9309 §2.3.1.3: a file that is not there disallows nothing.
    if (isOurs && !crashes && hunted !== null && (answer === 'missing' || answer === 'forbidden'))
      this.disallows.set(hunted, false);
    const result = resultOf(answer, flight.request.url, permit);
    const leastMs = answer === 'later' ? 3_600_000 : 100;
    if (crashes || (isOurs && answer !== 'interrupted')) this.verdictOwed.set(permit, leastMs);
    else this.verdictPossible.set(permit, leastMs);
    this.tell({ type: 'fetched', permit, result }, crashes);
  }

  parse(which: number, how: 'well' | 'badly' | 'crash', disallow: boolean, crashes = false): void {
    const index = which % Math.max(1, this.reading.length);
    const one = this.reading[index];
    if (one === undefined) return;
    this.reading.splice(index, 1);
    const robotsOrigin = originHunted(one.url);
    if (how === 'well' && robotsOrigin !== null && one.redirect !== null) this.hop(robotsOrigin);
    if (how === 'well' && robotsOrigin !== null && one.redirect === null) this.disallows.set(robotsOrigin, disallow);
    this.tell({ type: 'parsed', permit: one.permit, result: parsed(one, how, disallow) }, crashes);
  }

  /** RFC 9309 §2.3.1.2: after five redirects there is no file. */
  private hop(origin: string): void {
    const hops = (this.hops.get(origin) ?? 0) + 1;
    this.hops.set(origin, hops);
    if (hops > 5) this.disallows.set(origin, false);
  }

  /** The message that would have brought the end of a visit is lost. */
  lose(which: number): void {
    const permits = [
      ...this.reading.map(({ permit }) => permit),
      ...(this.flight === null ? [] : [this.flight.permit.number]),
    ];
    const permit = permits[which % Math.max(1, permits.length)];
    if (permit === undefined) return;
    const index = this.reading.findIndex((one) => one.permit === permit);
    if (index >= 0) this.reading.splice(index, 1);
    else this.flight = null;
    this.verdictOwed.delete(permit);
    this.tell({ type: 'visitLost', permit });
  }

  commit(count: number, crashes = false): void {
    const batch = this.recording.splice(0, count);
    if (batch.length === 0) return;
    const before = this.bestReady();
    const tickets: number[] = [];
    for (const wish of batch) {
      if ('fence' in wish) continue;
      this.store(wish.part);
      if (wish.incarnation === this.stage.incarnation) tickets.push(wish.part.ticket);
    }
    for (const { at } of this.rows.values())
      if (at.queue === 'ready' && (this.heads[at.priority] as number) > at.sequence)
        expect.fail(`the head ${this.heads[at.priority]} is above row ${at.sequence}`);
    this.news(before);
    const ready = [...this.rows.values()].filter(({ at }) => at.queue === 'ready').length;
    if (tickets.length > 0) this.tell({ type: 'recorded', tickets, ready, blocked: this.blocked().length }, crashes);
    for (const wish of batch) if ('fence' in wish) this.tell({ type: 'fenced', epoch: wish.fence });
  }

  private store(part: HostPart): void {
    const heads = part.heads.slice();
    this.written += part.moves.length;
    for (const { from, to, record } of part.moves) {
      expect(this.rows.get(from.sequence)?.at, `row ${from.sequence} moved from where it is not`).toEqual(from);
      expect(record.deliveries).toBeLessThanOrEqual(8);
      expect(record.chain?.steps.length ?? 2, 'P6: asked again at most three times').toBeLessThanOrEqual(4);
      if (to === null) expect(record.chain).toBeNull();
      if (to === null) {
        this.rows.delete(from.sequence);
        this.left.push(record.url);
      } else this.rows.set(from.sequence, { at: to, record });
      if (to?.queue === 'ready') heads[to.priority] = Math.min(heads[to.priority] as number, to.sequence);
    }
    this.heads = heads;
    this.snapshot = part.snapshot;
    for (const { origin, state } of part.robots) this.robots.set(origin, state);
  }

  /** The workbench knows whose fault it was. */
  blame(fault: Fault, crashes = false): void {
    const about = this.doubts.shift();
    if (about !== undefined) this.tell({ type: 'blamed', about, fault }, crashes);
  }

  errand(crashes = false): void {
    this.errandsIn += 1;
    this.tell(
      {
        type: 'errand',
        for: 'b.example',
        origin: 'http://b.example',
        url: `http://${NAME}/for-b.txt`,
        validators: null,
      },
      crashes,
    );
  }

  errandDone(found: 'rules' | 'missing' | 'failure' | 'back' | 'on', disallow: boolean, crashes = false): void {
    const errand = this.errandsAwaited().shift();
    if (errand !== undefined) this.errandsOut.splice(this.errandsOut.indexOf(errand), 1);
    if (errand === undefined) return;
    const { origin } = errand;
    if (found === 'rules' || found === 'missing') this.disallows.set(origin, found === 'rules' && disallow);
    if (found === 'back' || found === 'on') this.hop(origin);
    const target = found === 'back' ? movedUrl(origin, NAME) : found === 'on' ? movedUrl(origin, 'c.example') : null;
    const answer = { kind: 'answer', cut: false, retryAfterMs: null, validators: null } as const;
    const answers: Record<typeof found, RobotsFound> = {
      rules: { ...answer, status: 200, bytes: rulesOf(disallow), redirect: null },
      missing: { ...answer, status: 404, bytes: null, redirect: null },
      failure: { kind: 'failure', code: 'dns_not_found' },
      back: {
        ...answer,
        status: 301,
        bytes: null,
        redirect: target === null ? null : candidateOf(target, { source: 'redirect' }),
      },
      on: {
        ...answer,
        status: 301,
        bytes: null,
        redirect: target === null ? null : candidateOf(target, { source: 'redirect' }),
      },
    };
    this.tell({ type: 'errandDone', origin, found: answers[found] }, crashes);
  }

  pass(ms: number): void {
    const untilMs = this.stage.nowMs + ms;
    for (;;) {
      const next = this.alive ? this.stage.nextAlarmMs() : null;
      if (next === null || next > untilMs) break;
      this.stage.pass(Math.max(0, next - this.stage.nowMs));
      this.look();
    }
    this.stage.nowMs = untilMs;
  }

  // -- what the host does ---------------------------------------------------------------------------------------------

  private look(): void {
    const effects = this.stage.take();
    for (const { to, message } of told(effects)) this.hear(to, message as unknown as Heard);
    for (const effect of effects) this.see(effect);
    expect(this.stage.effectsMost).toBeLessThan(40);
    if (of(effects, 'passivate').length > 0) this.passivate();
  }

  private see(effect: Effect): void {
    switch (effect.do) {
      case 'loadHost':
        expect(this.asked).toBeNull();
        this.asked = { what: { ask: 'load' }, head: this.show(this.heads, effect.limit) };
        return;
      case 'readQueue':
        expect(this.asked).toBeNull();
        this.asked = { what: { ask: 'read', ...effect }, head: this.show(effect.from, effect.limit) };
        return;
      case 'readBlocked': {
        expect(this.asked).toBeNull();
        const rows = this.blocked().filter(({ at }) => at.sequence >= effect.from);
        const entries = rows.slice(0, effect.limit);
        const shown = { entries, complete: rows.length < effect.limit, notes: [], failure: null };
        this.asked = { what: { ask: 'blocked', rows: shown }, head: headOf() };
        return;
      }
      case 'resolve':
        expect(this.resolving).toBe(false);
        this.resolving = true;
    }
  }

  private hear(to: string, message: Heard): void {
    switch (message.type) {
      case 'fenceFor':
        this.recording.push({ fence: message.epoch });
        return;
      case 'visited':
        this.recording.push({ part: message.part, incarnation: this.stage.incarnation });
        return;
      case 'settle':
        return this.settled(message);
      case 'overdue':
        this.doubts.push({ what: 'errand', origin: message.origin });
        return;
      case 'returned':
        this.unspent.delete(message.permit);
        return;
      case 'start':
        return this.start(message.permit, message.request);
      case 'read':
        this.reading.push({
          permit: message.permit,
          url: message.task.url,
          redirect: message.task.headers.find(([name]) => name === 'location')?.[1] ?? null,
        });
        return;
      case 'rested':
        return this.rested(message);
      case 'errand':
        expect(to.endsWith(`/${NAME}`)).toBe(false);
        this.errandsOut.push({ ...message, atMs: this.stage.nowMs });
        return;
      case 'errandDone':
        this.errandsDone += 1;
    }
  }

  private settled({ verdict, network, ask }: Settled): void {
    if (verdict !== null) {
      const owedMs = this.verdictOwed.get(verdict.permit) ?? this.verdictPossible.get(verdict.permit);
      expect(owedMs, `a verdict on ${verdict.permit} that is not owed`).toBeDefined();
      expect(verdict.closedForMs).toBeGreaterThanOrEqual(owedMs as number);
      this.verdictOwed.delete(verdict.permit);
    }
    if (network?.reach === 'unreached') {
      expect(ask, 'it asks while it waits to be judged').toBeNull();
      expect(this.doubts.filter(({ what }) => what !== 'errand')).toEqual([]);
      this.doubts.push(network.about);
    }
    if (ask !== null) this.ask = ask;
  }

  /** P1, P4, P5. */
  private start(permit: Permit, request: FetchRequest): void {
    expect(this.unspent.delete(permit.number), 'a request without a permit').toBe(true);
    expect(this.flight).toBeNull();
    this.flight = { permit, request, incarnation: this.stage.incarnation };
    this.requests += 1;
    const { origin, pathname } = new URL(request.url);
    if (pathname === '/robots.txt') this.hops.set(origin, 0);
    if (originHunted(request.url) !== null || pathname === '/for-b.txt') return;
    expect(this.disallows.get(origin), `P5: ${request.url} before its robots.txt`).toBeDefined();
    this.carries(request);
    if (pathname.startsWith('/private')) expect(this.disallows.get(origin), `P4: ${request.url}`).toBe(false);
  }

  /** P6: a page that was sent back carries its newest cookie, any other request carries none. */
  private carries({ url, headers }: FetchRequest): void {
    const row = [...this.rows.values()].find(({ record }) => record.url === url);
    const [cookie = null] = row?.record.chain?.cookies ?? [];
    const sent = headers.find(([name]) => name === 'cookie')?.[1] ?? null;
    expect(sent).toBe(cookie === null ? null : `permit=${cookie.value}`);
    this.carried += sent === null ? 0 : 1;
  }

  private rested({
    wake,
    left,
    wakeAtMs,
  }: {
    wake: number;
    left: PriorityClass | null;
    wakeAtMs: number | null;
  }): void {
    this.rests += 1;
    expect([this.asked, this.resolving, this.ask, this.reading.length, this.errandsAwaited().length]).toEqual([
      null,
      false,
      null,
      0,
      0,
    ]);
    expect(this.recording).toEqual([]);
    expect(this.doubts, 'it rests while it waits to be judged').toEqual([]);
    if (this.flight !== null) expect(this.flight.incarnation).toBeLessThan(this.stage.incarnation);
    if (this.awake !== wake) return;
    this.awake = null;
    this.inLine = left !== null;
    this.wakeAtMs = left === null ? wakeAtMs : null;
    // Whoever has rows has a plan.
    if (this.rows.size > 0) expect(this.inLine || this.wakeAtMs !== null, 'rows that nobody wakes for').toBe(true);
  }

  /** After 90 s it is given up. */
  private errandsAwaited(): (Errand & { readonly atMs: number })[] {
    return this.errandsOut.filter(({ atMs }) => this.stage.nowMs < atMs + 90_000);
  }

  private passivate(): void {
    this.alive = false;
    this.stage.alarms.clear();
    this.stage.incarnation += 1;
  }

  // -- the store's rows -----------------------------------------------------------------------------------------------

  private bestReady(): number | null {
    const classes = [...this.rows.values()].flatMap(({ at }) => (at.queue === 'ready' ? [at.priority as number] : []));
    return classes.length === 0 ? null : Math.min(...classes);
  }

  private blocked(): QueueEntry[] {
    return [...this.rows.values()]
      .filter(({ at }) => at.queue === 'blocked')
      .sort((a, b) => a.at.sequence - b.at.sequence);
  }

  private show(from: readonly number[], limit: number): QueueHead {
    const all = [...this.rows.values()].sort((a, b) => a.at.sequence - b.at.sequence);
    const ready = all
      .filter(({ at }) => at.queue === 'ready' && at.sequence >= (from[at.priority] as number))
      .sort((a, b) => a.record.priority - b.record.priority);
    const dueOf = ({ at }: QueueEntry) => (at.queue === 'waiting' ? at.dueAtMs : 0);
    const waiting = all.filter(({ at }) => at.queue === 'waiting').sort((a, b) => dueOf(a) - dueOf(b));
    const parked = all.filter(({ at }) => at.queue === 'parked');
    this.shown += Math.min(limit, ready.length) + Math.min(limit, waiting.length) + Math.min(limit, parked.length);
    return headOf({
      ready: ready.slice(0, limit),
      readyComplete: ready.length <= limit,
      waiting: waiting.slice(0, limit),
      waitingComplete: waiting.length <= limit,
      parked: parked.slice(0, limit),
      parkedComplete: parked.length <= limit,
    });
  }

  // -- the end --------------------------------------------------------------------------------------------------------

  /** Everybody answers well from now on: every row leaves, and the host rests. */
  finish(): void {
    for (let round = 0; round < 4_000; round++) {
      this.answerStore(false);
      this.resolve(ADDRESSES);
      this.grant();
      this.land('ok');
      this.blame('theirs');
      this.parse(0, 'well', false);
      this.errandDone('missing', false);
      this.commit(3);
      this.wakeIfDue();
      if (this.rows.size === 0 && this.awake === null && this.recording.length === 0) break;
      const step = this.isIdle() ? 60_000 : 50;
      this.pass(step);
    }
    expect([...this.rows.values()].map(({ at }) => at)).toEqual([]);
    expect(this.awake).toBeNull();
    expect([...this.verdictOwed.keys()], 'P2: verdicts that never came').toEqual([]);
    expect(new Set(this.left).size).toBe(this.left.length);
  }

  private isIdle(): boolean {
    return (
      this.asked === null &&
      !this.resolving &&
      this.ask === null &&
      this.flight === null &&
      this.reading.length === 0 &&
      this.doubts.length === 0 &&
      this.recording.length === 0
    );
  }
}

interface Settled {
  readonly verdict: Verdict | null;
  readonly network: NetworkWord | null;
  readonly ask: Ask | null;
}

type Heard =
  | { readonly type: 'fenceFor'; readonly epoch: number }
  | { readonly type: 'visited'; readonly part: HostPart }
  | ({ readonly type: 'settle' } & Settled)
  | Overdue
  | { readonly type: 'returned'; readonly permit: number }
  | { readonly type: 'start'; readonly permit: Permit; readonly request: FetchRequest }
  | {
      readonly type: 'read';
      readonly permit: number;
      readonly task: { readonly url: string; readonly headers: readonly (readonly [string, string])[] };
    }
  | {
      readonly type: 'rested';
      readonly wake: number;
      readonly left: PriorityClass | null;
      readonly wakeAtMs: number | null;
    }
  | Errand
  | { readonly type: 'errandDone' };

export const ADDRESSES: Resolution = {
  kind: 'addresses',
  addresses: [{ address: '192.0.2.1', family: 4 }],
  expiresInMs: 5_000,
};

export function rulesOf(disallow: boolean): Uint8Array {
  return new TextEncoder().encode(disallow ? 'User-agent: *\nDisallow: /private\n' : '');
}

/** Whose robots.txt a request is for; null for a page or another host's errand. */
function originHunted(url: string): string | null {
  const { origin, pathname } = new URL(url);
  if (pathname === '/robots.txt') return origin;
  const moved = /^\/moved-(https?)\.txt$/.exec(pathname);
  return moved === null ? null : `${moved[1]}://${NAME}`;
}

function movedUrl(origin: string, to: string): string {
  return `http://${to}/moved-${origin.slice(0, origin.indexOf(':'))}.txt`;
}

function resultOf(answer: Answer, url: string, permit: number): FetchResult {
  const origin = originHunted(url) ?? `http://${NAME}`;
  const failure = (code: Extract<FetchResult, { kind: 'failure' }>['code'], reusedConnection = false): FetchResult => ({
    kind: 'failure',
    code,
    detail: '',
    status: null,
    durationMs: 5,
    reusedConnection,
  });
  switch (answer) {
    case 'ok':
      return responseOf(200);
    case 'redirect home':
      return responseOf(301, [['location', movedUrl(origin, NAME)]]);
    case 'redirect away':
      return responseOf(301, [['location', movedUrl(origin, 'b.example')]]);
    case 'sent back':
      // To the very page, with a cookie that it never had; a robots.txt goes on as ever.
      if (originHunted(url) !== null) return responseOf(301, [['location', movedUrl(origin, NAME)]]);
      return responseOf(302, [
        ['location', url],
        ['set-cookie', `permit=${permit}`],
      ]);
    case 'missing':
      return responseOf(404);
    case 'forbidden':
      return responseOf(403);
    case 'throttled':
      return responseOf(429);
    case 'later':
      return responseOf(503, [['retry-after', '3600']]);
    case 'broken':
      return responseOf(500);
    case 'refused':
      return failure('connect_failed');
    case 'stale':
      return failure('connection_reset', true);
    case 'truncated':
      return failure('truncated');
    case 'interrupted':
      return failure('interrupted');
    case 'crashed':
      return failure('worker_crashed');
  }
}

function parsed({ redirect }: Reading, how: 'well' | 'badly' | 'crash', disallow: boolean): ParseResult {
  if (how !== 'well') {
    return { kind: 'unparsed', code: how === 'badly' ? 'undecodable' : 'worker_crashed', detail: '', archive: null };
  }
  return {
    kind: 'parsed',
    payloadDigest: 'sha1:P',
    contentDigest: 'sha1:C',
    decodedBytes: 5,
    page: null,
    redirect: redirect === null ? null : candidateOf(redirect, { source: 'redirect', element: 'location' }),
    decoded: rulesOf(disallow),
    archive: null,
    parseMicros: 1,
  };
}
