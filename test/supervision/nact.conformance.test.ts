/**
 * What nact 7.6.2 does, pinned: the kernel is built around these. A case that changes with another version of nact
 * tells which of the kernel's guards may go, or which promise of the kernel is in danger.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dispatch, spawn, start, stop } from 'nact';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

// biome-ignore lint/suspicious/noExplicitAny: nact's own types say next to nothing, and its hidden parts are what is tested
type Any = any;
let systems = 0;
const newSystem = (): Any => start({ name: `conformance-${++systems}` } as Any);
const make = spawn as unknown as (parent: Any, f: Any, name: string, properties?: Any) => Any;
const tell = dispatch as unknown as (ref: Any, message: unknown) => void;
const end = stop as unknown as (ref: Any) => void;

async function rounds(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((next) => setImmediate(next));
}

/** A promise that the test lets go. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('nact 7.6.2: turns', () => {
  it('handles one message an actor and a turn of the event loop, round robin', async () => {
    const order: string[] = [];
    const system = newSystem();
    const actors = ['a', 'b'].map((name) =>
      make(system, (_: unknown, n: number) => void order.push(`${name}${n}`), name),
    );
    for (let n = 1; n <= 3; n++) for (const actor of actors) tell(actor, n);
    await rounds();
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
    end(system);
  });

  it('treats a ref as an address: it reaches a later actor of the same path; to a dead path it is silent', async () => {
    const seen: string[] = [];
    const system = newSystem();
    const first = make(system, () => void seen.push('first'), 'x');
    end(first);
    tell(first, 1);
    await rounds();
    expect(seen).toEqual([]);
    make(system, () => void seen.push('second'), 'x');
    tell(first, 2);
    await rounds();
    expect(seen).toEqual(['second']);
    end(system);
  });

  it('copies the table of children into the context of each message to their parent', async () => {
    const system = newSystem();
    const contexts: Any[] = [];
    const parent = make(system, (_: unknown, __: unknown, context: Any) => void contexts.push(context), 'parent');
    for (let i = 0; i < 10; i++) make(parent, () => undefined, `child${i}`);
    tell(parent, 1);
    tell(parent, 2);
    await rounds();
    expect(contexts[0].children.size).toBe(10);
    expect(contexts[0].children).not.toBe(contexts[1].children);
    end(system);
  });

  it('refuses names with brackets, colons, percent and tilde, and a name that is taken', () => {
    const system = newSystem();
    for (const name of ['[::1]', 'a:80', 'a%b', 'a~b', 'a/b', '']) {
      if (name !== '') expect(() => make(system, () => undefined, name), name).toThrow('Invalid argument');
    }
    make(system, () => undefined, 'a,005b!1');
    expect(() => make(system, () => undefined, 'a,005b!1')).toThrow('already exists');
    end(system);
  });
});

describe('nact 7.6.2: faults', () => {
  it('stop does not reach children: an orphan handles what it had', async () => {
    const handled: number[] = [];
    const system = newSystem();
    const parent = make(system, () => undefined, 'parent');
    const child = make(parent, (_: unknown, n: number) => void handled.push(n), 'child');
    for (let n = 1; n <= 3; n++) tell(child, n);
    end(parent);
    await rounds();
    expect(handled).toEqual([1, 2, 3]);
    end(system);
  });

  it('reset and resume keep the mailbox; the message that crashed is not tried again', async () => {
    for (const way of ['reset', 'resume']) {
      const handled: number[] = [];
      const system = newSystem();
      const handle = (_: unknown, n: number): void => {
        if (n === 1) throw new Error('poison');
        handled.push(n);
      };
      const actor = make(system, handle, 'a', { onCrash: (_: unknown, __: unknown, context: Any) => context[way] });
      for (let n = 1; n <= 3; n++) tell(actor, n);
      await rounds();
      expect(handled, way).toEqual([2, 3]);
      end(system);
    }
  });

  it('a child that escalates to a parent that resumes handles nothing any more', async () => {
    const handled: number[] = [];
    const system = newSystem();
    const parent = make(system, () => undefined, 'parent', {
      onCrash: (_: unknown, __: unknown, context: Any) => context.resume,
    });
    const handle = (_: unknown, n: number): void => {
      if (n === 1) throw new Error('poison');
      handled.push(n);
    };
    const child = make(parent, handle, 'child', {
      onCrash: (_: unknown, __: unknown, context: Any) => context.escalate,
    });
    tell(child, 1);
    tell(child, 2);
    await rounds();
    expect(handled).toEqual([]);
    end(system);
  });

  it('resetAll on a busy sibling runs two of its handlers at once', async () => {
    let running = 0;
    let most = 0;
    const { opened, open } = gate();
    const system = newSystem();
    const parent = make(system, () => undefined, 'parent');
    const slow = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await opened;
      running -= 1;
    };
    const busy = make(parent, slow, 'busy');
    const crash = (): never => {
      throw new Error('boom');
    };
    const sick = make(parent, crash, 'sick', { onCrash: (_: unknown, __: unknown, context: Any) => context.resetAll });
    tell(busy, 1);
    tell(busy, 2);
    await rounds(3);
    tell(sick, 1);
    await rounds();
    open();
    await rounds();
    expect(most).toBe(2);
    end(system);
  });

  it('stop and spawn under one name, while the old handler waits, run two bodies at once', async () => {
    let running = 0;
    let most = 0;
    const { opened, open } = gate();
    const system = newSystem();
    const slow = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await opened;
      running -= 1;
    };
    const first = make(system, slow, 'x');
    tell(first, 1);
    await rounds(3);
    end(first);
    tell(make(system, slow, 'x'), 1);
    await rounds(3);
    open();
    await rounds();
    expect(most).toBe(2);
    end(system);
  });

  it('shutdownAfter and query cut their time to 32 bits: 30 days are over at once', async () => {
    const system = newSystem();
    const handled: number[] = [];
    const actor = make(system, (_: unknown, n: number) => void handled.push(n), 'a', {
      shutdownAfter: 30 * 86_400_000,
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    tell(actor, 1);
    await rounds();
    expect(handled).toEqual([]);
    end(system);
  });
});

describe('nact 7.6.2: what ends the process', () => {
  const prologue = `
    import nact from 'nact';
    const { start, spawn, dispatch, stop } = nact;
    const system = start({ name: 'deadly' });
    const boom = () => { throw new Error('boom'); };
    setTimeout(() => process.exit(0), 300);`;
  const deadly: Record<string, string> = {
    'onCrash throws': `dispatch(spawn(system, boom, 'a', { onCrash: boom }), 1);`,
    'afterStop throws': `stop(spawn(system, () => {}, 'a', { afterStop: boom }));`,
    'own crash answered with stopChild': `dispatch(spawn(system, boom, 'a', { onCrash: (m, e, c) => c.stopChild }), 1);`,
    'a crash after stop, escalated': `
      let crash; const wait = new Promise((_, reject) => { crash = reject; });
      const a = spawn(system, () => wait, 'a', { onCrash: (m, e, c) => c.escalate });
      dispatch(a, 1);
      setTimeout(() => { stop(a); crash(new Error('late')); }, 20);`,
  };
  for (const [name, body] of Object.entries(deadly)) {
    it(name, async () => {
      const ended = run(process.execPath, ['--input-type=module', '-e', prologue + body], { cwd: root });
      await expect(ended).rejects.toMatchObject({ code: 1 });
    });
  }

  it('and what does not: a crash answered with resume, even after a stop', async () => {
    const body = `
      let crash; const wait = new Promise((_, reject) => { crash = reject; });
      const a = spawn(system, () => wait, 'a', { onCrash: (m, e, c) => c.resume });
      dispatch(a, 1);
      setTimeout(() => { stop(a); crash(new Error('late')); }, 20);`;
    await expect(
      run(process.execPath, ['--input-type=module', '-e', prologue + body], { cwd: root }),
    ).resolves.toBeDefined();
  });
});
