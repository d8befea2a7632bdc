import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dispatch, spawn, start } from 'nact';
import { describe, expect, it } from 'vitest';
import { createSimulation, type SimulationError, WORLD, type Simulation } from '../../src/sim/events.js';
import { nactRounds } from './nact-rounds.js';

/** Timers that are exact, so that times can be told. */
function exact(seed = 1): Simulation {
  return createSimulation({ seed, timerLateShare: 0, timerEarlyShare: 0 });
}

async function refusalOf(run: Promise<unknown>): Promise<unknown> {
  try {
    await run;
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
}

describe('the globals', () => {
  it('are simulated during a run and the real ones after it', async () => {
    const before = [
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout,
      clearInterval,
      clearImmediate,
      Date,
      performance.now,
      process.hrtime,
      Math.random,
    ];
    const simulation = exact();
    await simulation.run(async () => {
      expect(setTimeout).not.toBe(before[0]);
      expect(Date.now()).toBe(Date.UTC(2026, 0, 5));
      await new Promise((resolve) => setTimeout(resolve, 86_400_000));
      expect(new Date().toISOString()).toBe('2026-01-06T00:00:00.000Z');
      expect(new Date(5).getTime()).toBe(5);
      expect(new Date()).toBeInstanceOf(Date);
      expect(Date()).toContain('2026');
      expect(performance.now()).toBe(86_400_000);
      expect(process.hrtime.bigint()).toBe(86_400_000_000_000n);
    });
    expect([
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout,
      clearInterval,
      clearImmediate,
      Date,
      performance.now,
      process.hrtime,
      Math.random,
    ]).toEqual(before);
  });

  it('are restored after a run that failed, and a second run at once is refused', async () => {
    const real = setTimeout;
    const failure = await refusalOf(
      exact().run(async () => {
        await expect(exact().run(() => 1)).rejects.toThrow('running already');
        throw new RangeError('wanted');
      }),
    );
    expect(failure).toBeInstanceOf(RangeError);
    expect(setTimeout).toBe(real);
  });

  it('fire a delay of 2^31 - 1 ms at its time and one of 2^31 ms after 1 ms, as Node does', async () => {
    const simulation = exact();
    await simulation.run(async () => {
      await promisify(setTimeout)(2 ** 31);
      expect(simulation.nowMs).toBe(1);
      await promisify(setTimeout)(2 ** 31 - 1);
      expect(simulation.nowMs).toBe(2 ** 31);
    });
  });

  it('clear, repeat and refresh timers', async () => {
    const simulation = exact();
    const fired: string[] = [];
    await simulation.run(async () => {
      clearTimeout(setTimeout(() => fired.push('cleared'), 5));
      clearImmediate(setImmediate(() => fired.push('cleared')));
      const refreshed = setTimeout(() => fired.push(`refreshed ${simulation.nowMs}`), 10);
      setTimeout(() => refreshed.refresh(), 9);
      const ticks = setInterval(() => fired.push(`tick ${simulation.nowMs}`), 6);
      setTimeout(() => clearInterval(ticks), 20);
      clearTimeout(undefined);
      await promisify(setTimeout)(100);
    });
    expect(fired).toEqual(['tick 6', 'tick 12', 'tick 18', 'refreshed 19']);
  });

  it('P8: some timers come late by at most the bound, some early by less than a millisecond', async () => {
    const simulation = createSimulation({ seed: 3, timerLateShare: 0.3, timerLateMsMax: 4, timerEarlyShare: 0.2 });
    const errors = await simulation.run(() =>
      Promise.all(Array.from({ length: 500 }, () => promisify(setTimeout)(1_000).then(() => simulation.nowMs - 1_000))),
    );
    expect(Math.min(...errors)).toBeGreaterThan(-1.000001);
    expect(Math.min(...errors)).toBeLessThan(-0.5);
    expect(Math.max(...errors)).toBeLessThanOrEqual(4);
    expect(Math.max(...errors)).toBeGreaterThan(2);
    expect(errors.filter((error) => error === 0).length).toBeGreaterThan(100);
  });

  it('P8: the wall clock can jump, monotonic time does not', async () => {
    const simulation = exact();
    await simulation.run(() => {
      const [wallMs, monotonicMs] = [Date.now(), performance.now()];
      simulation.shiftWall(-3_600_000);
      expect(Date.now() - wallMs).toBe(-3_600_000);
      expect(performance.now()).toBe(monotonicMs);
    });
  });
});

describe('order', () => {
  const tied = async (seed: number): Promise<string> => {
    const simulation = exact(seed);
    const order: number[] = [];
    await simulation.run(async () => {
      for (let index = 0; index < 6; index++) setTimeout(() => order.push(index), 10);
      await promisify(setTimeout)(11);
    });
    return order.join('');
  };

  it('of ties is drawn from the seed: the same for one, many for many', async () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 30; seed++) orders.add(await tied(seed));
    expect(orders.size).toBeGreaterThan(20);
    expect(await tied(7)).toBe(await tied(7));
  });

  it('lets every chain of promises settle before the next event', async () => {
    const order: string[] = [];
    await exact().run(async () => {
      setImmediate(async () => {
        for (let hop = 0; hop < 50; hop++) await Promise.resolve();
        order.push('first');
      });
      await promisify(setTimeout)(1);
      order.push('second');
    });
    expect(order).toEqual(['first', 'second']);
  });

  it('is the same in this process and in two others, with nact actors and memory-level in it', async () => {
    const here = await nactRounds(42);
    expect(here.handled).toHaveLength(60);
    expect(here.stored).toHaveLength(60);
    expect(here.endedAtMs).toBeGreaterThan(200);
    const there = [0, 1].map(() => JSON.parse(inProcess('nact-rounds.ts', 'nactRounds(42)')) as unknown);
    expect(there).toEqual([here, here]);
    expect((await nactRounds(43)).hash).not.toBe(here.hash);
  });
});

/** Loads a module of this folder in a process of its own, and answers with what an expression over its exports prints. */
function inProcess(file: string, expression: string): string {
  const name = expression.slice(0, expression.indexOf('('));
  const program = `
    import { runnerImport } from 'vite';
    const { module: { ${name} } } = await runnerImport('./${file}', { logLevel: 'silent' });
    console.log(JSON.stringify(await ${expression}));`;
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd, encoding: 'utf8' });
}

describe('kill -9', () => {
  it('removes what its owner had pending, across awaits, and nothing else', async () => {
    const simulation = exact();
    const seen: string[] = [];
    await simulation.run(async () => {
      for (const owner of [1, 2]) {
        simulation.as(owner, async () => {
          for (let tick = 1; ; tick++) {
            await promisify(setTimeout)(10);
            await Promise.resolve();
            seen.push(`${owner}:${tick}`);
          }
        });
      }
      await simulation.sleep(25);
      simulation.kill(1);
      expect(simulation.isAlive(1)).toBe(false);
      await simulation.sleep(20);
      simulation.kill(2);
      await simulation.sleep(1_000);
    });
    expect(seen.toSorted()).toEqual(['1:1', '1:2', '2:1', '2:2', '2:3', '2:4']);
  });

  it('holds for nact actors: none of the killed system handles anything more', async () => {
    const simulation = exact(5);
    const seen: number[] = [];
    await simulation.run(async () => {
      simulation.as(1, () => {
        const system = start({ name: 'doomed' } as never);
        const actor = spawn(
          system,
          (_: unknown, count: number) => {
            seen.push(count);
            setTimeout(() => dispatch(actor, count + 1), 10);
          },
          'counter',
        );
        dispatch(actor, 0);
      });
      await simulation.sleep(45);
      simulation.kill(1);
      await simulation.sleep(500);
    });
    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  it('keeps a killed owner from scheduling, even in promises that the world resolves', async () => {
    const simulation = exact();
    let zombie = false;
    await simulation.run(async () => {
      simulation.as(
        1,
        () =>
          void simulation.after(5, () => {
            zombie = true;
          }),
      );
      await simulation.sleep(1);
      simulation.kill(1);
      simulation.as(1, () => {
        zombie = true;
      });
      await simulation.sleep(50);
    });
    expect(zombie).toBe(false);
  });

  it('P8: gives every incarnation an origin of monotonic time of its own', async () => {
    const simulation = exact();
    const origins: number[] = [];
    await simulation.run(async () => {
      for (const owner of [1, 2, 3]) simulation.as(owner, () => origins.push(performance.now()));
      await simulation.sleep(1);
    });
    expect(new Set(origins).size).toBe(3);
    for (const originMs of origins) expect(originMs).toBeGreaterThan(0);
  });

  it('and SIGSTOP lets events wait until the owner is continued', async () => {
    const simulation = exact();
    const at: number[] = [];
    await simulation.run(async () => {
      simulation.as(1, () => void setTimeout(() => at.push(simulation.nowMs), 10));
      simulation.as(2, () => void setTimeout(() => at.push(simulation.nowMs), 10));
      await simulation.sleep(1);
      simulation.freeze(1, 1_500);
      await simulation.sleep(3_000);
    });
    expect(at).toEqual([10, 1_501]);
  });
});

describe('the end of a run', () => {
  const codeOf = async (run: Promise<unknown>): Promise<string> => ((await refusalOf(run)) as SimulationError).code;

  it('is an error when nothing is left to happen', async () => {
    expect(await codeOf(exact().run(() => new Promise(() => {})))).toBe('simulation_idle');
  });

  it('is an error past the budget of events, and none at it', async () => {
    const ticks = (count: number) => async () => {
      for (let tick = 0; tick < count; tick++) await promisify(setImmediate)();
    };
    const budget = (): Simulation => createSimulation({ seed: 1, eventsMax: 100 });
    await budget().run(ticks(99));
    expect(await codeOf(budget().run(ticks(100)))).toBe('simulation_events');
  });

  it('is an error past the budget of simulated time, and none at it', async () => {
    const bounded = (): Simulation => createSimulation({ seed: 1, simulatedMsMax: 1_000 });
    const first = bounded();
    await first.run(() => first.sleep(1_000));
    const second = bounded();
    expect(await codeOf(second.run(() => second.sleep(1_000.5)))).toBe('simulation_time');
  });

  it("is an error when an event of the world throws; an incarnation's may be taken", async () => {
    const simulation = exact();
    const world = simulation.run(async () => {
      simulation.after(1, () => {
        throw new Error('world broke');
      });
      await simulation.sleep(10);
    });
    expect(await codeOf(world)).toBe('simulation_uncaught');
    const taken: unknown[] = [];
    const other = exact();
    other.onUncaught = (owner, error) => taken.push([owner, String(error)]) > 0;
    await other.run(async () => {
      other.as(3, () => {
        throw new Error('process broke');
      });
      await other.sleep(10);
    });
    expect(taken).toEqual([[3, 'Error: process broke']]);
  });
});

describe('work outside', () => {
  it('lets time stand still, and comes back in the order in which it was begun', async () => {
    const realSetTimeout = setTimeout;
    const really = <T>(delayMs: number, value: T): Promise<T> =>
      new Promise((resolve) => realSetTimeout(() => resolve(value), delayMs));
    const run = async (delays: readonly number[]) => {
      const simulation = exact(9);
      const order: string[] = [];
      await simulation.run(async () => {
        setTimeout(() => order.push(`timer ${simulation.nowMs}`), 3);
        const work = delays.map((delayMs, index) =>
          simulation
            .outside(() => really(delayMs, index))
            .then((value) => order.push(`work ${value} at ${simulation.nowMs}`)),
        );
        await Promise.all(work);
        await simulation.sleep(5);
      });
      return { order, hash: simulation.traceHash() };
    };
    const slowFirst = await run([8, 1, 4]);
    expect(await run([1, 4, 8])).toEqual(slowFirst);
    expect(slowFirst.order.at(-1)).toBe('timer 3');
  });

  it('belongs to whoever began it: a killed one never hears of it', async () => {
    const simulation = exact();
    let heard = false;
    await simulation.run(async () => {
      simulation.as(1, async () => {
        await simulation.outside(async () => 'done');
        await simulation.sleep(10);
        heard = true;
      });
      await simulation.sleep(5);
      simulation.kill(1);
      await simulation.sleep(50);
    });
    expect(heard).toBe(false);
    expect(simulation.owner).toBe(WORLD);
  });
});
