/**
 * A parser: gives bodies to its worker thread, two at a time so that the thread never waits, and answers the hosts.
 *
 * The others wait here and outlive a crash of this actor. What the thread reads is lost with it: the host of the page
 * in hand is told `worker_crashed` and decides whether the URL is tried again; another is told `interrupted`.
 */
import type { Behaviour, Turn } from '../protocols/actor.js';
import * as addresses from '../protocols/addresses.js';
import { type Effect, log, send } from '../protocols/effects.js';
import type { Message, Read } from '../protocols/parser.js';

export interface Props {
  readonly thread: number;
}

interface State {
  readonly thread: number;
  readonly waiting: readonly Read[];
  readonly reading: readonly Read[];
}

/** In the thread at once: one that is read and one that is ready. */
const READING_MAX = 2;

export const parser: Behaviour<Props, State, Message> = {
  start: ({ thread }) => [{ thread, waiting: [], reading: [] }, []],

  restart: ({ thread }, held, { lost }) => {
    const inHand = lost === null ? null : lost.type === 'read' ? lost.permit : lost.ticket;
    const effects = held.reading.map((read) => unread(read, read.permit === inHand));
    if (lost?.type === 'read') effects.push(unread(lost, true));
    return fill({ thread, waiting: held.waiting, reading: [] }, effects);
  },

  on: {
    read: (state, read) => fill({ ...state, waiting: [...state.waiting, read] }, []),

    parseEnded: (state, { ticket, result }) => {
      const read = state.reading.find((one) => one.permit === ticket);
      if (read === undefined) return [state, []];
      const effects: Effect[] = [send(addresses.host(read.host), { type: 'parsed', permit: ticket, result })];
      if (result.kind === 'unparsed' && result.code === 'worker_crashed') {
        effects.push(
          log('error', 'parser_thread_died', { thread: state.thread, url: read.task.url, detail: result.detail }),
        );
      }
      return fill({ ...state, reading: state.reading.filter((one) => one !== read) }, effects);
    },
  },
};

/** What was in hand answers for the crash; what stood beside it is read another time. */
function unread({ host, permit }: Read, inHand: boolean): Effect {
  const code = inHand ? 'worker_crashed' : 'interrupted';
  const detail = inHand ? 'the parser crashed with it in hand' : 'the parser crashed beside it';
  const result = { kind: 'unparsed', code, detail, archive: null } as const;
  return send(addresses.host(host), { type: 'parsed', permit, result });
}

function fill(state: State, effects: Effect[]): Turn<State> {
  const taken = state.waiting.slice(0, READING_MAX - state.reading.length);
  if (taken.length === 0) return [state, effects];
  for (const read of taken) {
    effects.push({ do: 'parse', ticket: read.permit, thread: state.thread, task: read.task });
  }
  return [{ ...state, waiting: state.waiting.slice(taken.length), reading: [...state.reading, ...taken] }, effects];
}
