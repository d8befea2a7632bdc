/**
 * The operators of a simulated crawl: they pause it, exclude a part of the web, bring seeds, and take back what they
 * told. They know what was answered and nothing else: a crawl that dies before its answer may or may not have heard.
 *
 * What is judged here, from outside:
 * 1. An order that was answered holds until it is taken back, whatever dies meanwhile: no request against it begins,
 *    but for those whose permit was given before (it lives for five seconds).
 * 2. What is admitted again is kept out no more.
 * 3. A seed that was answered is never told again, and must be as if it had stood there from the beginning (D1).
 * 4. Of the seeds of one command all are in the registry, or none is there as a seed (D1).
 * 5. A redrive that was answered is never told again: it goes on by itself, whatever dies, and is over in the end (R1).
 */
import type { CrawlSettings } from '../domain/crawl-settings.js';
import type { Redrive, RedriveRate } from '../domain/redrive.js';
import type { CrawlEvent } from '../protocols/events.js';
import type { RulesChange } from '../protocols/frontier.js';
import type { StorePort } from '../protocols/ports.js';
import { isAllowed, type Landscape, type Page } from './landscape.js';
import type { Random } from './random.js';

/** A crawl that can be told something. */
export interface Told {
  /** Answered by the event `changed`, once it is committed. */
  change(change: RulesChange): void;
  /** All in one commit; answered by the event `seeded`. */
  seed(urls: readonly string[], again?: boolean): void;
  /** All dead letters; told by the event `redriven` from its first commit on. */
  redrive(rate: RedriveRate | null, who: string): void;
}

export interface OperatorsWorld {
  readonly landscape: Landscape;
  readonly random: Random;
  nowMs(): number;
  after(delayMs: number, happen: () => void, label: string): void;
  /** Does nothing to a crawl that is down or still opening: it hears what stands when it has opened. */
  tell(what: string, tell: (crawl: Told) => void): void;
  accuse(rule: string, detail: string): void;
  remember(what: string): void;
}

/** Something that holds from its answer on until it is taken back. */
interface Order {
  readonly kind: 'paused' | 'excluded';
  readonly begin: RulesChange;
  readonly end: RulesChange;
  isIn(settings: CrawlSettings): boolean;
  forbids(url: string): boolean;
}

type Standing =
  | { readonly phase: 'told' | 'taken_back'; readonly order: Order }
  | { readonly phase: 'answered'; readonly order: Order; readonly sinceMs: number };

/** A permit that was given before an answer may be spent for so long. */
const PERMIT_LIFE_MS = 5_000;
const SEEDS_AT_ONCE_MAX = 3;
/** Who wishes a redrive: those of a universe, and the one who wants what was mended. */
const ANYBODY = 'an operator';
const MENDED = 'the mender';
/** More than any universe has. */
const REDRIVES_MAX = 1_000;

export class Operators {
  readonly tally = { pause: 0, exclude: 0, sow: 0, redrive: 0 };
  readonly #world: OperatorsWorld;
  /** One of a kind at a time. */
  readonly #standing = new Map<Order['kind'], Standing>();
  /** The last of a kind of which the answer came that it is no more, and when. */
  readonly #ended = new Map<Order['kind'], { readonly order: Order; readonly atMs: number }>();
  /** Every exclusion that there ever was, and when the answer came that it is no more; null: it may still be in force. */
  readonly #exclusions = new Map<Order, number | null>();
  #isLeaving = false;
  /** When the answer came; null: none has come. */
  readonly #sown = new Map<string, number | null>();
  /** The seeds of each command. */
  readonly #commands: (readonly string[])[] = [];

  /** Redrives that were answered, by number, and when first. */
  readonly #redriven = new Map<number, number>();
  /** The one of what was mended, once it is wished. */
  #mending: { readonly rate: RedriveRate | null; answeredAtMs: number | null } | null = null;

  constructor(world: OperatorsWorld) {
    this.#world = world;
  }

  /** What they want to have beside what the crawl begins with. */
  get sown(): readonly string[] {
    return [...this.#sown.keys()];
  }

  /** Whether all that they told has been taken back, and answered. */
  get haveLeft(): boolean {
    return this.#standing.size === 0;
  }

  pause(forMs: number): void {
    const isIn = ({ paused }: CrawlSettings) => paused;
    const order = {
      kind: 'paused',
      begin: { paused: true },
      end: { paused: false },
      isIn,
      forbids: () => true,
    } as const;
    if (this.#order(order, forMs, 'pause')) this.tally.pause += 1;
  }

  exclude(forMs: number): void {
    if (this.#isLeaving) return;
    const order = this.#drawExclusion();
    if (!this.#order(order, forMs, `exclude ${order.begin.exclude?.[0]}`)) return;
    this.tally.exclude += 1;
    this.#exclusions.set(order, null);
  }

  /** Some of all pages, or of those that an exclusion kept out until now. */
  sow(from: Order | null = null): void {
    if (this.#isLeaving) return;
    const { random, landscape } = this.#world;
    const pages = [...landscape.pages.values()].filter((page) => mayBeHad(page) && (from?.forbids(page.url) ?? true));
    if (pages.length === 0) return;
    const urls = [
      ...new Set(Array.from({ length: random.between(1, SEEDS_AT_ONCE_MAX) }, () => random.pick(pages).url)),
    ];
    this.tally.sow += 1;
    this.#commands.push(urls);
    for (const url of urls) if (!this.#sown.has(url)) this.#sown.set(url, null);
    this.#world.remember(`told to seed ${urls.join(', ')}`);
    this.#world.tell('seed', (crawl) => crawl.seed(urls));
  }

  /** Whatever is dead by now. It may die once more. */
  redrive(): void {
    if (this.#isLeaving) return;
    const rate = this.#drawRate();
    this.tally.redrive += 1;
    this.#world.remember(`told to redrive ${rateWords(rate)}`);
    this.#world.tell('redrive', (crawl) => crawl.redrive(rate, ANYBODY));
  }

  /** What failed for days is mended: from now on they want it, until that is answered. */
  mend(): void {
    this.#mending = { rate: this.#drawRate(), answeredAtMs: null };
    this.#world.remember(`mended: to redrive ${rateWords(this.#mending.rate)}`);
  }

  get haveMended(): boolean {
    return this.#mending === null || this.#mending.answeredAtMs !== null;
  }

  #drawRate(): RedriveRate | null {
    const { random } = this.#world;
    return random.chance(0.5)
      ? null
      : random.pick([
          { letters: 2, perMs: 1_000 },
          { letters: 3, perMs: 60_000 },
        ]);
  }

  /** @param isOver nothing was left to do */
  async judgeRedrives(store: Pick<StorePort, 'listRedrives'>, isOver: boolean): Promise<void> {
    const kept = new Map((await store.listRedrives(null, REDRIVES_MAX)).map((it) => [it.number, it]));
    for (const number of this.#redriven.keys()) {
      const redrive = kept.get(number);
      if (redrive === undefined) this.#world.accuse('redrive-lost', `redrive ${number} was answered, and is not there`);
      else if (isOver && redrive.stage === 'going')
        this.#world.accuse('redrive-lost', `redrive ${number} was answered, and has not come to its end`);
    }
  }

  /** A crawl has opened its store: what was taken back and not answered is told once more, and so are seeds. */
  booted(crawl: Told): void {
    for (const { phase, order } of this.#standing.values()) if (phase === 'taken_back') crawl.change(order.end);
    const unanswered = [...this.#sown].flatMap(([url, answeredAtMs]) => (answeredAtMs === null ? [url] : []));
    if (unanswered.length > 0) crawl.seed(unanswered);
    if (this.#mending !== null && !this.haveMended) crawl.redrive(this.#mending.rate, MENDED);
  }

  /** What the last life has left of the seeds that it was told. An exclusion may have kept one of them out. */
  async judgeSeeds(store: Pick<StorePort, 'readRecord'>, keyOf: (url: string) => string): Promise<void> {
    if (this.#exclusions.size > 0) return;
    const told = [...this.#commands.flat(), ...this.#world.landscape.seeds];
    for (const urls of this.#commands) {
      let asSeed: string | null = null;
      let missing: string | null = null;
      for (const url of urls) {
        const record = await store.readRecord(keyOf(url), new URL(url).hostname);
        if (record === null) missing = url;
        // What another command has brought says nothing of this one.
        else if (record.source === 'seed' && told.filter((it) => it === url).length === 1) asSeed = url;
      }
      if (asSeed !== null && missing !== null)
        this.#world.accuse('seeds-torn', `${asSeed} was committed, and ${missing} of the same command was not`);
    }
  }

  hear(event: CrawlEvent): void {
    if (event.event === 'seeded') {
      for (const url of [...event.queued, ...event.known])
        if (this.#sown.has(url)) this.#sown.set(url, this.#world.nowMs());
    }
    if (event.event === 'redriven' && event.redrive !== null) this.#heardRedriven(event.redrive);
    if (event.event === 'visit' && event.code === 'excluded') this.#judgeRefusal(event.url);
    if (event.event !== 'changed') return;
    for (const [kind, { phase, order }] of this.#standing) {
      const isIn = order.isIn(event.settings);
      if (phase === 'told' && isIn) {
        this.#standing.set(kind, { phase: 'answered', order, sinceMs: this.#world.nowMs() });
      }
      if (phase !== 'taken_back' || isIn) continue;
      this.#standing.delete(kind);
      this.#ended.set(kind, { order, atMs: this.#world.nowMs() });
      if (!this.#exclusions.has(order)) continue;
      this.#exclusions.set(order, this.#world.nowMs());
      this.sow(order);
    }
  }

  #heardRedriven({ number, who }: Redrive): void {
    const nowMs = this.#world.nowMs();
    if (!this.#redriven.has(number)) this.#redriven.set(number, nowMs);
    if (this.#mending !== null && who === MENDED) this.#mending.answeredAtMs ??= nowMs;
  }

  /** Power was lost: what was answered since then may be undone. */
  forget(sinceMs: number): void {
    for (const [number, answeredAtMs] of this.#redriven) if (answeredAtMs >= sinceMs) this.#redriven.delete(number);
    if (this.#mending !== null && (this.#mending.answeredAtMs ?? 0) >= sinceMs) this.#mending.answeredAtMs = null;
    for (const [url, answeredAtMs] of this.#sown) {
      if (answeredAtMs !== null && answeredAtMs >= sinceMs) this.#sown.set(url, null);
    }
    for (const [kind, standing] of this.#standing) {
      if (standing.phase === 'answered' && standing.sinceMs >= sinceMs)
        this.#standing.set(kind, { phase: 'told', order: standing.order });
    }
    for (const [kind, { order, atMs }] of this.#ended) {
      if (atMs < sinceMs || this.#standing.has(kind)) continue;
      this.#standing.set(kind, { phase: 'taken_back', order });
      if (this.#exclusions.has(order)) this.#exclusions.set(order, null);
    }
  }

  judgeArrival(url: string): void {
    for (const standing of this.#standing.values()) {
      if (standing.phase !== 'answered' || !standing.order.forbids(url)) continue;
      const sinceMs = this.#world.nowMs() - standing.sinceMs;
      if (sinceMs <= PERMIT_LIFE_MS) continue;
      const { kind } = standing.order;
      this.#world.accuse(kind, `${url} is asked for ${Math.round(sinceMs)} ms after the answer that it is ${kind}`);
    }
  }

  /** A permit of before, with the rules of before, may still have been in hand. */
  #judgeRefusal(url: string): void {
    const earliestMs = this.#world.nowMs() - PERMIT_LIFE_MS;
    for (const [order, endedAtMs] of this.#exclusions) {
      if (order.forbids(url) && (endedAtMs === null || endedAtMs >= earliestMs)) return;
    }
    this.#world.accuse('kept-out', `${url} is refused as excluded, though nothing excludes it`);
  }

  /** From now on they change nothing of what the crawl comes to: all is taken back, and only pauses are told. */
  leave(): void {
    this.#isLeaving = true;
    for (const { order } of this.#standing.values()) this.#takeBack(order);
  }

  /** Of these, what an exclusion that is no more has kept out, or a seed that was never answered. */
  async owed(urls: Iterable<string>, store: Pick<StorePort, 'readRecord'>, keyOf: (url: string) => string) {
    const owed: string[] = [];
    for (const url of urls) {
      if (!this.#sown.has(url) && ![...this.#exclusions.keys()].some((order) => order.forbids(url))) continue;
      const record = await store.readRecord(keyOf(url), new URL(url).hostname);
      // A seed that was answered is there, or lost.
      if (record === null && this.#sown.get(url) != null) continue;
      if (record === null || record.attempts.at(-1)?.code === 'excluded') owed.push(url);
    }
    return owed;
  }

  /** False: nobody tells anything while an answer is outstanding. */
  #order(order: Order, forMs: number, what: string): boolean {
    const isWaitedFor = [...this.#standing.values()].some(({ phase }) => phase !== 'answered');
    if (isWaitedFor || this.#standing.has(order.kind)) return false;
    this.#standing.set(order.kind, { phase: 'told', order });
    this.#world.remember(`told to ${what}`);
    this.#world.tell(what, (crawl) => crawl.change(order.begin));
    this.#world.after(forMs, () => this.#takeBack(order), `no more ${order.kind}`);
    return true;
  }

  #takeBack(order: Order): void {
    const standing = this.#standing.get(order.kind);
    if (standing === undefined || standing.order !== order || standing.phase === 'taken_back') return;
    this.#standing.set(order.kind, { phase: 'taken_back', order });
    this.#world.remember(`told that it is no more ${order.kind}`);
    this.#world.tell(`no more ${order.kind}`, (crawl) => crawl.change(order.end));
  }

  /** A host, or the folder of a page on it. */
  #drawExclusion(): Order {
    const { random, landscape } = this.#world;
    const { url, host } = random.pick([...landscape.pages.values()]);
    const folder = url.slice(0, url.lastIndexOf('/') + 1);
    const isHost = random.chance(0.3);
    const text = isHost ? host.name : folder.replace('http://', '');
    return {
      kind: 'excluded',
      begin: { exclude: [text] },
      end: { admit: [text] },
      isIn: ({ exclusions }) => exclusions.includes(text),
      forbids: (asked) => (isHost ? new URL(asked).hostname === host.name : asked.startsWith(folder)),
    };
  }
}

function rateWords(rate: RedriveRate | null): string {
  return rate === null ? 'all at once' : `${rate.letters} in ${rate.perMs / 1_000} s`;
}

/** A login that is known leads nobody to its wall any more: whoever seeds one seeds what can't be had. */
function mayBeHad({ host, path, final }: Page): boolean {
  return host.nameFailures !== null && isAllowed(host, path) && final.kind !== 'login';
}
