/**
 * A few nact actors and a memory store that do something in simulated time: run inside vitest and, as a program, in a
 * process of its own, to compare the traces. It uses only what type stripping can run, so that a child can run it.
 */
import { MemoryLevel } from 'memory-level';
import { dispatch, spawn, start } from 'nact';
import { createSimulation } from '../../src/sim/events.js';

export interface Rounds {
  readonly hash: string;
  readonly events: number;
  readonly handled: readonly string[];
  readonly stored: readonly string[];
  readonly endedAtMs: number;
}

/** Ten actors that each answer six timed rounds and write each into the store. */
export async function nactRounds(seed: number): Promise<Rounds> {
  const simulation = createSimulation({ seed });
  const handled: string[] = [];
  const store = new MemoryLevel<string, string>();
  const stored = await simulation.run(async () => {
    const system = start({ name: 'rounds' } as never);
    const finished = Array.from({ length: 10 }, (_, index) => oneActor(system, `actor-${index}`, handled, store));
    await Promise.all(finished);
    return store.keys().all();
  });
  return { hash: simulation.traceHash(), events: simulation.events, handled, stored, endedAtMs: simulation.nowMs };
}

function oneActor(
  system: ReturnType<typeof start>,
  name: string,
  handled: string[],
  store: MemoryLevel<string, string>,
): Promise<void> {
  return new Promise((resolve) => {
    const actor = spawn(
      system,
      async (_state: unknown, round: number) => {
        handled.push(`${name}:${round}`);
        await store.put(`${name}:${round}`, String(Date.now()));
        if (round === 5) resolve();
        else setTimeout(() => dispatch(actor, round + 1), 100 * Math.random());
      },
      name,
    );
    dispatch(actor, 0);
  });
}
