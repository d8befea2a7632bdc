/**
 * B1, B2 in the workbench, under random traffic, held against a book of their own: hosts ask for browsers and for plain
 * requests; calls work, fail, are given back, are lost; actors crash, time passes.
 *
 * The book knows only what was told and granted: five failures in a row, two minutes, one probe.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PERMIT_LIFE_MS, type Props, workbench } from '../../src/actors/workbench.js';
import type { Tier } from '../../src/domain/tier.js';
import type { BackendWord } from '../../src/policy/backend-breaker.js';
import type { Message, Permit } from '../../src/protocols/workbench.js';
import { drawsFrom } from './support/instants.js';
import { ANY_RULES } from './support/records.js';
import { Stage, told } from './support/stage.js';

const FAILURES_MAX = 5;
const REST_MS = 120_000;
const CALL_MS = 30_000;
const HOSTS = ['a', 'b', 'c', 'd', 'e'];

const PROPS: Props = {
  tiers: { 1: { slots: 2, requestMsMax: 20_000 }, 3: { slots: 2, requestMsMax: CALL_MS } },
  openVisitsMax: 20,
  openBytesMax: 1_000,
  addressDelayMs: 100,
  resumed: false,
  rules: ANY_RULES,
  egress: null,
  backend: { failuresMax: FAILURES_MAX, restMs: REST_MS },
  retryBudget: null,
};

interface Model {
  /** Calls in a row that failed, while it was not resting. */
  inARow: number;
  restsUntilMs: number | null;
  probe: number | null;
  readonly out: Map<number, Permit>;
  readonly asking: Map<string, Tier>;
}

class Bench {
  readonly stage = new Stage(workbench, PROPS, 0, drawsFrom(5));
  grants = 0;
  probes = 0;
  openings = 0;
  declines = 0;

  tell(model: Model, message: Message, crashes: boolean): void {
    if (crashes) this.stage.crashOn(message, 'again');
    else this.stage.tell(message);
    this.look(model);
  }

  look(model: Model): void {
    const said = told(this.stage.take());
    // A probe that is granted is why others are declined, in one turn.
    for (const { message } of said)
      if (message.type === 'granted') this.seeGrant(model, message['permit'] as unknown as Permit);
    for (const { to, message } of said) {
      if (message.type === 'declined') this.seeDecline(model, to, message['untilMs'] as unknown as number);
      if (message.type === 'visitLost') this.seeEnd(model, message['permit'] as unknown as number, null);
    }
  }

  private seeGrant(model: Model, permit: Permit): void {
    this.grants += 1;
    expect(model.asking.get(permit.host), 'what was asked for').toBe(permit.tier);
    model.asking.delete(permit.host);
    model.out.set(permit.number, permit);
    if (permit.tier !== 3) return;
    expect(model.probe, 'no second probe').toBeNull();
    const grantedAtMs = permit.expiresAtMs - PERMIT_LIFE_MS;
    expect(permit.deadlineMs).toBe(grantedAtMs + PERMIT_LIFE_MS + CALL_MS);
    if (model.restsUntilMs === null) return;
    expect(grantedAtMs, 'no probe before the rest is over').toBeGreaterThanOrEqual(model.restsUntilMs);
    model.probe = permit.number;
    this.probes += 1;
  }

  private seeDecline(model: Model, to: string, untilMs: number): void {
    this.declines += 1;
    const host = to.slice(to.lastIndexOf('/') + 1);
    expect(model.asking.get(host), 'only who asked for a browser is declined').toBe(3);
    model.asking.delete(host);
    const { nowMs } = this.stage;
    const isResting = model.restsUntilMs !== null && nowMs < model.restsUntilMs;
    expect(isResting || model.probe !== null, 'B1: not before five failures in a row').toBe(true);
    if (isResting && model.probe === null) expect(untilMs).toBe(model.restsUntilMs);
    expect(untilMs).toBeGreaterThan(nowMs);
  }

  /** Before the message that says so: what the workbench answers is held against this. */
  seeEnd(model: Model, permit: number, word: BackendWord | null): void {
    const call = model.out.get(permit);
    model.out.delete(permit);
    if (call?.tier !== 3) return;
    if (model.probe === permit) {
      model.probe = null;
      if (word === 'worked') model.restsUntilMs = null;
      if (word === 'failed') this.rest(model);
      model.inARow = 0;
      return;
    }
    if (model.restsUntilMs !== null || word === null) return;
    model.inARow = word === 'failed' ? model.inARow + 1 : 0;
    if (model.inARow === FAILURES_MAX) this.rest(model);
  }

  private rest(model: Model): void {
    model.restsUntilMs = this.stage.nowMs + REST_MS;
    model.inARow = 0;
    this.openings += 1;
  }
}

class AskCommand implements fc.Command<Model, Bench> {
  constructor(
    private readonly host: string,
    private readonly tier: Tier,
    private readonly crashes: boolean,
  ) {}

  check = (): boolean => true;

  run(model: Model, bench: Bench): void {
    const { host, tier } = this;
    model.asking.set(host, tier);
    const ask = {
      host,
      address: { address: '192.0.2.1', family: 4 },
      // Some share an address: whoever waits for a browser holds up nobody.
      addressClock: host < 'd' ? '192.0.2.1' : null,
      delivery: 'first',
      tier,
      priority: 2,
      delayMs: 10,
    } as const;
    bench.tell(model, { type: 'settle', host, verdict: null, network: null, ask }, this.crashes);
  }

  toString = (): string => `ask ${this.host} ${this.tier}`;
}

class EndCommand implements fc.Command<Model, Bench> {
  constructor(
    private readonly nth: number,
    private readonly word: BackendWord | 'nothing' | 'returned',
    private readonly crashes: boolean,
  ) {}

  check = (model: Readonly<Model>): boolean => model.out.size > 0;

  run(model: Model, bench: Bench): void {
    const permit = [...model.out.values()][this.nth % model.out.size] as Permit;
    const { number, host, tier, fetcher } = permit;
    const { word, crashes } = this;
    const said = tier === 3 && (word === 'worked' || word === 'failed') ? word : null;
    bench.seeEnd(model, number, said);
    if (word === 'returned') return bench.tell(model, { type: 'returned', permit: number, host }, crashes);
    bench.tell(model, { type: 'ended', permit: number, host, tier, slot: fetcher, bytes: 0, backend: said }, crashes);
    bench.tell(model, { type: 'closed', visits: [number] }, false);
    const verdict = { permit: number, closedForMs: 10 };
    bench.tell(model, { type: 'settle', host, verdict, network: null, ask: null }, false);
  }

  toString = (): string => `end ${this.nth} ${this.word}`;
}

class PassCommand implements fc.Command<Model, Bench> {
  constructor(private readonly ms: number) {}
  check = (): boolean => true;

  run(model: Model, bench: Bench): void {
    // In steps, so that what happens meanwhile is seen when it happens.
    for (let left = this.ms; left > 0; left -= 1_000) {
      bench.stage.pass(Math.min(left, 1_000));
      bench.look(model);
    }
  }

  toString = (): string => `pass ${this.ms}`;
}

class RestartCommand implements fc.Command<Model, Bench> {
  constructor(private readonly host: string) {}
  check = (): boolean => true;

  run(model: Model, bench: Bench): void {
    model.asking.delete(this.host);
    bench.tell(model, { type: 'hostRestarted', host: this.host }, false);
  }

  toString = (): string => `restart ${this.host}`;
}

const commands = fc.commands(
  [
    fc
      .tuple(fc.constantFrom(...HOSTS), fc.constantFrom<Tier>(1, 3, 3), fc.boolean())
      .map((it) => new AskCommand(...it)),
    fc
      .tuple(
        fc.nat(9),
        fc.constantFrom('worked', 'failed', 'failed', 'failed', 'failed', 'nothing', 'returned'),
        fc.boolean(),
      )
      .map(([nth, word, crashes]) => new EndCommand(nth, word as BackendWord, crashes && word !== 'returned')),
    fc.constantFrom(1, 99, 100, 1_000, 20_000, REST_MS - 1, REST_MS).map((ms) => new PassCommand(ms)),
    fc.constantFrom(...HOSTS).map((host) => new RestartCommand(host)),
  ],
  { size: 'max', maxCommands: 150 },
);

/** All that is out ends; then whoever asks for what may be had is granted. */
function settleDown(model: Model, bench: Bench): void {
  for (const number of [...model.out.keys()]) {
    const { host, tier, fetcher } = model.out.get(number) as Permit;
    const backend = tier === 3 ? 'worked' : null;
    bench.seeEnd(model, number, backend);
    bench.tell(model, { type: 'ended', permit: number, host, tier, slot: fetcher, bytes: 0, backend }, false);
    bench.tell(model, { type: 'closed', visits: [number] }, false);
    const verdict = { permit: number, closedForMs: 10 };
    bench.tell(model, { type: 'settle', host, verdict, network: null, ask: null }, false);
  }
  new PassCommand(REST_MS).run(model, bench);
}

describe('B1, B2: the browser service in the workbench', () => {
  it('never more than one probe, never open before five in a row; who asks for what may be had is granted', () => {
    let probes = 0;
    let declines = 0;
    fc.assert(
      fc.property(commands, (script) => {
        const real = new Bench();
        const model: Model = { inARow: 0, restsUntilMs: null, probe: null, out: new Map(), asking: new Map() };
        fc.modelRun(() => ({ model, real }), script);
        while (model.out.size > 0) settleDown(model, real);
        settleDown(model, real);
        for (let round = 0; round < 20 && (model.asking.size > 0 || model.out.size > 0); round++)
          settleDown(model, real);
        expect(model.asking.size, 'nobody is left waiting').toBe(0);
        const { lines } = real.stage.state;
        expect([lines.get(1)?.free.length, lines.get(3)?.free.length]).toEqual([2, 2]);
        probes += real.probes;
        declines += real.declines;
      }),
      { numRuns: 500, seed: 11 },
    );
    expect(probes).toBeGreaterThan(50);
    expect(declines).toBeGreaterThan(100);
  });
});
