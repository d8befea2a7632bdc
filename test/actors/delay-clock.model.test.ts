/**
 * The delay clock against a model (P2): the delay policy, the gate and the clock of addresses, put together as a crawl
 * has them, in time that passes in steps of any length and in alarms that ring too early. A request starts no sooner
 * than the end of the one before + its delay, at its host and at its address, and no later than it may.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Props, workbench } from '../../src/actors/workbench.js';
import { delayAfter } from '../../src/policy/delay.js';
import type { Permit } from '../../src/protocols/workbench.js';
import { drawsFrom } from './support/instants.js';
import { ANY_RULES } from './support/records.js';
import { Stage, told } from './support/stage.js';

const ADDRESS_DELAY_MS = 100;

/** Two hosts at one address, one alone at its own, one whose address has no clock. */
const HOSTS = ['a', 'b', 'c', 'd'] as const;
type HostName = (typeof HOSTS)[number];
const CLOCK_OF: Readonly<Record<HostName, string | null>> = { a: 'x', b: 'x', c: 'y', d: null };
const CONFIGURED_MS: Readonly<Record<HostName, number>> = { a: 0, b: 250, c: 1_000, d: 1_000 };
const DELAYS = { adaptiveFactor: 10 };

const propsOf = (resumed: boolean): Props => ({
  tiers: { 1: { slots: HOSTS.length, requestMsMax: 1e9 } },
  openVisitsMax: 1_000,
  openBytesMax: 1_000,
  addressDelayMs: ADDRESS_DELAY_MS,
  egress: null,
  backend: null,
  retryBudget: null,
  resumed,
  rules: ANY_RULES,
});

interface Out {
  readonly permit: Permit;
  readonly sinceMs: number;
}

class Model {
  readonly asking = new Set<HostName>();
  readonly out = new Map<HostName, Out>();
  /** From when on a host, or an address, may be asked. */
  readonly opensAtMs = new Map<string, number>();

  /** The earliest time for a request to a host; null while its address is in use. */
  earliestMs(host: HostName): number | null {
    const clock = CLOCK_OF[host];
    for (const other of this.out.keys()) if (clock !== null && CLOCK_OF[other] === clock) return null;
    return Math.max(this.opensAtMs.get(host) ?? 0, clock === null ? 0 : (this.opensAtMs.get(clock) ?? 0));
  }
}

class Real {
  readonly stage: Stage<Props, unknown, Parameters<typeof workbench.on.settle>[1] | never>;

  constructor(resumed: boolean) {
    this.stage = new Stage(workbench, propsOf(resumed), 0, drawsFrom(5)) as unknown as Real['stage'];
  }

  tell(model: Model, message: unknown): void {
    this.stage.tell(message as never);
    this.look(model);
  }

  look(model: Model): void {
    const { nowMs } = this.stage;
    for (const { message } of told(this.stage.take())) {
      if (message.type !== 'granted') continue;
      const permit = message['permit'] as Permit;
      const host = permit.host as HostName;
      expect(model.asking.delete(host)).toBe(true);
      expect(model.out.has(host), `${host} is in flight`).toBe(false);
      const earliestMs = model.earliestMs(host);
      expect(earliestMs, `the address of ${host} is in use`).not.toBeNull();
      expect(nowMs, `${host} is asked too early`).toBeGreaterThanOrEqual(earliestMs as number);
      model.out.set(host, { permit, sinceMs: nowMs });
    }
    for (const host of model.asking) {
      const earliestMs = model.out.has(host) ? null : model.earliestMs(host);
      if (earliestMs !== null) expect(nowMs, `${host} waits for nothing`).toBeLessThan(earliestMs);
    }
  }
}

type Command = fc.Command<Model, Real>;

class Asks implements Command {
  constructor(readonly host: HostName) {}
  check = (model: Readonly<Model>) => !model.out.has(this.host);
  run(model: Model, real: Real) {
    const { host } = this;
    model.asking.add(host);
    const address = { address: '192.0.2.1', family: 4 } as const;
    const ask = {
      host,
      address,
      addressClock: CLOCK_OF[host],
      delivery: 'first',
      tier: 1,
      priority: 2,
      delayMs: CONFIGURED_MS[host],
    };
    real.tell(model, { type: 'settle', network: null, host, verdict: null, ask });
  }
  toString = () => `${this.host} asks`;
}

/** The request ends, and the host says at once how long it is to be left alone: by its rules, or as it was told. */
class Ends implements Command {
  constructor(
    readonly host: HostName,
    readonly crawlDelaySeconds: number | null,
    readonly retryAfterMs: number,
    readonly verdictFirst: boolean,
  ) {}
  check = (model: Readonly<Model>) => model.out.has(this.host);
  run(model: Model, real: Real) {
    const { host, crawlDelaySeconds, retryAfterMs } = this;
    const { nowMs } = real.stage;
    const { permit, sinceMs } = model.out.get(host) as Out;
    const lastDurationMs = nowMs - sinceMs;
    const terms = { ...DELAYS, configuredMs: CONFIGURED_MS[host], crawlDelaySeconds, lastDurationMs };
    const closedForMs = Math.max(retryAfterMs, delayAfter(terms));
    const ended = {
      type: 'ended',
      permit: permit.number,
      host,
      tier: 1,
      slot: permit.fetcher,
      bytes: 0,
      backend: null,
    };
    const verdict = { type: 'settle', network: null, host, verdict: { permit: permit.number, closedForMs }, ask: null };
    if (this.verdictFirst) real.stage.tell(verdict as never);
    model.out.delete(host);
    // In words that share nothing with the policy.
    const asked = Math.min(60_000, 1_000 * (crawlDelaySeconds ?? 0));
    const adaptive = Math.min(60_000, 10 * lastDurationMs);
    model.opensAtMs.set(host, nowMs + Math.max(CONFIGURED_MS[host], asked, adaptive, retryAfterMs));
    const clock = CLOCK_OF[host];
    if (clock !== null) model.opensAtMs.set(clock, nowMs + ADDRESS_DELAY_MS);
    real.tell(model, ended);
    if (!this.verdictFirst) real.tell(model, verdict);
    real.tell(model, { type: 'closed', visits: [permit.number] });
  }
  toString = () =>
    `${this.host} ends(${this.crawlDelaySeconds}, ${this.retryAfterMs}${this.verdictFirst ? ', verdict first' : ''})`;
}

/** Nothing was sent: the clocks stand as they stood. */
class GivesBack implements Command {
  constructor(readonly host: HostName) {}
  check = (model: Readonly<Model>) => model.out.has(this.host);
  run(model: Model, real: Real) {
    const { permit } = model.out.get(this.host) as Out;
    model.out.delete(this.host);
    real.tell(model, { type: 'returned', permit: permit.number, host: this.host });
  }
  toString = () => `${this.host} gives back`;
}

/** A request that lasts for minutes is given up: that is another matter. */
function mayPass(model: Readonly<Model>, ms: number): boolean {
  return ms <= 1_000 || model.out.size === 0;
}

class Passes implements Command {
  constructor(readonly ms: number) {}
  check = (model: Readonly<Model>) => mayPass(model, this.ms);
  run(model: Model, real: Real) {
    const untilMs = real.stage.nowMs + this.ms;
    while (real.stage.nowMs < untilMs) {
      const nextMs = Math.min(untilMs, real.stage.nextAlarmMs() ?? untilMs);
      real.stage.pass(Math.max(0, nextMs - real.stage.nowMs));
      real.look(model);
    }
  }
  toString = () => `passes(${this.ms})`;
}

/** The alarm rings before its time: P8. */
class RingsEarly implements Command {
  check = () => true;
  run(model: Model, real: Real) {
    real.tell(model, { type: 'gateDue' });
  }
  toString = () => 'rings early';
}

/** The process stood still: all that has come due meanwhile comes at once, late. */
class StandsStill implements Command {
  constructor(readonly ms: number) {}
  check = (model: Readonly<Model>) => mayPass(model, this.ms);
  run(model: Model, real: Real) {
    real.stage.nowMs += this.ms;
    real.tell(model, { type: 'gateDue' });
    new Passes(1).run(model, real);
  }
  toString = () => `stands still(${this.ms})`;
}

describe('P2, P8, P9 the delay clock against a model', () => {
  it.each([
    [false, 'from the first start on'],
    [true, 'after a life of which nothing is known'],
  ])('asks neither sooner nor later than it may (resumed: %s, %s)', (resumed) => {
    const host = fc.constantFrom(...HOSTS);
    const crawlDelay = fc.constantFrom(null, null, 0.05, 2, 90);
    const retryAfter = fc.constantFrom(0, 0, 0, 5_000, 200_000);
    const commands = fc.commands<Model, Real>(
      [
        host.map((it) => new Asks(it)),
        host.map((it) => new Asks(it)),
        fc.tuple(host, crawlDelay, retryAfter, fc.boolean()).map((terms) => new Ends(...terms)),
        fc.tuple(host, crawlDelay, retryAfter, fc.boolean()).map((terms) => new Ends(...terms)),
        host.map((it) => new GivesBack(it)),
        fc.oneof(fc.nat(300), fc.constantFrom(1, 99, 100, 999, 1_000, 60_000)).map((ms) => new Passes(ms)),
        fc.constant(new RingsEarly()),
        fc.constantFrom(50, 1_000, 300_000).map((ms) => new StandsStill(ms)),
      ],
      { maxCommands: 80, size: 'max' },
    );
    fc.assert(
      fc.property(commands, (steps) => {
        const model = new Model();
        if (resumed) {
          for (const name of HOSTS) model.opensAtMs.set(name, CONFIGURED_MS[name]);
          for (const clock of ['x', 'y']) model.opensAtMs.set(clock, ADDRESS_DELAY_MS);
        }
        fc.modelRun(() => ({ model, real: new Real(resumed) }), steps);
      }),
      { numRuns: 400 },
    );
  });
});
