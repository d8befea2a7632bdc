/**
 * The one file that touches the world: what each effect means.
 *
 * Everything before it is data. An effect on actors is done at once; an effect of I/O is begun, and its answer comes
 * as a message to whoever asked, if the asking incarnation is still there (or, where the effect `outlives`, to
 * whatever incarnation is there or comes). An effect that is done leaves no promise that nobody waits for: a port
 * that rejects although it must not is logged and counted, and answered with a failure of the right shape.
 */
import type { Instant, Tagged } from '../protocols/actor.js';
import type {
  BlockedRead,
  CommitFailed,
  Committed,
  Effect,
  FetchEnded,
  HostLoaded,
  HostsListed,
  ParseEnded,
  QueueHead,
  QueueRead,
  RedrivableQuery,
  RedrivableRead,
  Reopened,
  ReopenFailed,
  Resolved,
  Schedule,
} from '../protocols/effects.js';
import { StoreError, type StorePort } from '../protocols/ports.js';
import { Sealed } from './inbox.js';
import { type Runtime, reasonOf } from './runtime.js';

/** The actor whose effect is performed. */
export interface Asker {
  readonly path: string;
  readonly incarnation: number;
  /** Aborted when the incarnation ends. */
  signal(): AbortSignal;
  answer(incarnation: number, message: Tagged): void;
  schedule(effect: Schedule, nowMs: number): void;
  cancel(key: string): void;
  watch(path: string): void;
  leave(how: 'passivate' | 'finish'): void;
}

export function perform(effect: Effect, asker: Asker, runtime: Runtime, now: Instant): void {
  switch (effect.do) {
    case 'send':
      return runtime.post(effect.to.path, effect.message);
    case 'schedule':
      return asker.schedule(effect, now.monotonicMs);
    case 'cancel':
      return asker.cancel(effect.key);
    case 'watch':
      return asker.watch(effect.whom.path);
    case 'passivate':
      return asker.leave('passivate');
    case 'finish':
      return asker.leave('finish');
    case 'log':
      return runtime.ports.logs.log(effect.level, effect.event, effect.fields);
    case 'announce':
      return runtime.ports.announce(effect.event);
    case 'release':
      return runtime.ports.tiers[effect.tier]?.release(effect.bytes);
    case 'resolve':
    case 'fetch':
    case 'parse':
    case 'loadHost':
    case 'readQueue':
    case 'readBlocked':
    case 'readRedrivable':
    case 'listHosts':
      return ask(effect, asker, runtime);
    case 'commit':
    case 'reopen':
      return write(effect, asker, runtime);
    default:
      return effect satisfies never;
  }
}

type Question = Extract<
  Effect,
  {
    readonly do:
      | 'resolve'
      | 'fetch'
      | 'parse'
      | 'loadHost'
      | 'readQueue'
      | 'readBlocked'
      | 'readRedrivable'
      | 'listHosts';
  }
>;
type Write = Extract<Effect, { readonly do: 'commit' | 'reopen' }>;
type Answer = Resolved | FetchEnded | ParseEnded | HostLoaded | QueueRead | BlockedRead | RedrivableRead | HostsListed;
type Written = Committed | CommitFailed | Reopened | ReopenFailed;

/** Answered to the incarnation that asks. */
function ask(question: Question, asker: Asker, runtime: Runtime): void {
  const { incarnation } = asker;
  const askedAtMs = runtime.ports.clock.monotonicMs();
  const reply = (answer: Answer): void => asker.answer(incarnation, answer);
  const refuse = (error: unknown): void => {
    runtime.stray(`port:${question.do}`, error);
    reply(failureOf(question, reasonOf(error), runtime.ports.clock.monotonicMs() - askedAtMs));
  };
  answerOf(question, asker, runtime)
    .then(reply, refuse)
    .catch((error: unknown) => runtime.stray('answer', error));
}

/** Answered to the address, whichever incarnation is there by then: what was written stays written. */
function write(effect: Write, asker: Asker, runtime: Runtime): void {
  const { path } = asker;
  const reply = (answer: Written): void => runtime.postSealed(path, new Sealed(answer, null));
  const refuse = (error: unknown): void => {
    if (!(error instanceof StoreError)) runtime.stray(`port:${effect.do}`, error);
    reply(writeFailureOf(effect, error instanceof StoreError ? error.code : 'store_io', reasonOf(error)));
  };
  writtenOf(effect, runtime)
    .then(reply, refuse)
    .catch((error: unknown) => runtime.stray('answer', error));
}

// -- what each question asks, and what its answer is --------------------------------------------------------------

/** Begins at once, in the order of the effects; a port that throws instead of rejecting comes to the same. */
async function answerOf(question: Question, asker: Asker, { ports }: Runtime): Promise<Answer> {
  switch (question.do) {
    case 'resolve': {
      const { host } = question;
      return { type: 'resolved', host, resolution: await ports.names.resolve(host, asker.signal()) };
    }
    case 'fetch': {
      const { ticket, request } = question;
      const { tier } = request;
      const port = ports.tiers[tier];
      if (port === undefined) throw new Error(`nothing fetches by tier ${tier}`);
      return { type: 'fetchEnded', ticket, tier, result: await port.fetch(request, asker.signal()) };
    }
    case 'parse': {
      const { ticket, thread, task } = question;
      return { type: 'parseEnded', ticket, result: await ports.parsers.parse(thread, task) };
    }
    case 'loadHost':
      return { type: 'hostLoaded', ...(await ports.store.loadHost(question.host, question.limit)) };
    case 'readQueue':
      return { type: 'queueRead', ...(await ports.store.readQueue(question.host, question.from, question.limit)) };
    case 'readBlocked': {
      const { host, from, limit } = question;
      return { type: 'blockedRead', ...(await ports.store.readBlocked(host, from, limit)) };
    }
    case 'readRedrivable': {
      const { redrive, query } = question;
      return { type: 'redrivableRead', redrive, after: query.after, page: await redrivable(ports.store, query) };
    }
    case 'listHosts':
      return { type: 'hostsListed', ...(await ports.store.listHosts(question.after, question.limit)) };
  }
}

/** A store that has failed says so, as it does to whoever reads a queue. */
async function redrivable(store: StorePort, query: RedrivableQuery): Promise<RedrivableRead['page']> {
  try {
    return await store.readRedrivable(query);
  } catch (error) {
    if (error instanceof StoreError) return { failure: error.message };
    throw error;
  }
}

async function writtenOf(effect: Write, { ports }: Runtime): Promise<Written> {
  switch (effect.do) {
    case 'commit': {
      const { batch, parts, sync } = effect;
      return { type: 'committed', batch, receipt: await ports.store.commit(batch, parts, sync) };
    }
    case 'reopen':
      return reopen(ports);
  }
}

/** Opening again may have had to repair: what it cost is told like at the start. */
async function reopen({ store, logs }: Runtime['ports']): Promise<Written> {
  const { batch, nextSequence, notes } = await store.reopen();
  for (const note of notes) logs.log('warn', 'store_repaired', { note });
  return { type: 'reopened', batch, nextSequence };
}

// -- what is answered for a port that broke its promise ------------------------------------------------------------

/** A name that could not be asked for is asked again after this. */
const RESOLUTION_FAILED_MS = 5_000;

function failureOf(question: Question, detail: string, durationMs: number): Answer {
  switch (question.do) {
    case 'resolve': {
      const resolution = { kind: 'failed', code: 'dns_failed', detail, expiresInMs: RESOLUTION_FAILED_MS } as const;
      return { type: 'resolved', host: question.host, resolution };
    }
    case 'fetch': {
      const { ticket, request } = question;
      const { tier } = request;
      if (tier === 3) {
        const result = { kind: 'backend_failure', code: 'backend_failed', detail, durationMs } as const;
        return { type: 'fetchEnded', ticket, tier, result };
      }
      const fate = { kind: 'failure', code: 'worker_crashed', status: null, reusedConnection: false } as const;
      return { type: 'fetchEnded', ticket, tier, result: { ...fate, detail, durationMs } };
    }
    case 'parse': {
      const result = { kind: 'unparsed', code: 'worker_crashed', detail, archive: null } as const;
      return { type: 'parseEnded', ticket: question.ticket, result };
    }
    case 'loadHost':
      return {
        type: 'hostLoaded',
        host: question.host,
        snapshot: null,
        robots: [],
        summary: null,
        head: unread(detail),
      };
    case 'readQueue':
      return { type: 'queueRead', host: question.host, head: unread(detail) };
    case 'readBlocked': {
      const rows = { entries: [], complete: false, notes: [], failure: detail };
      return { type: 'blockedRead', host: question.host, rows };
    }
    case 'readRedrivable':
      return {
        type: 'redrivableRead',
        redrive: question.redrive,
        after: question.query.after,
        page: { failure: detail },
      };
    case 'listHosts':
      return { type: 'hostsListed', hosts: [], complete: false, notes: [], failure: detail };
  }
}

function writeFailureOf(effect: Write, code: string, detail: string): Written {
  if (effect.do === 'commit') return { type: 'commitFailed', batch: effect.batch, code, detail };
  return { type: 'reopenFailed', code, detail };
}

function unread(failure: string): QueueHead {
  const none = { ready: [], waiting: [], parked: [] };
  return { ...none, readyComplete: false, waitingComplete: false, parkedComplete: false, notes: [], failure };
}
