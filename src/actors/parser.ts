/**
 * A parser: gives bodies to its worker thread, two at a time so that the thread never waits, and answers the hosts.
 *
 * The others wait here and outlive a crash of this actor. What the thread had in hand is lost with it: its host is
 * told `worker_crashed` and decides whether the URL is tried again.
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

  restart: ({ thread }, held) => {
    const lost = held.reading.map((read) =>
      send(addresses.host(read.host), {
        type: 'parsed',
        permit: read.permit,
        result: {
          kind: 'unparsed',
          code: 'worker_crashed',
          detail: 'the parser crashed with it in hand',
          archive: null,
        },
      }),
    );
    return fill({ thread, waiting: held.waiting, reading: [] }, lost);
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

function fill(state: State, effects: Effect[]): Turn<State> {
  const taken = state.waiting.slice(0, READING_MAX - state.reading.length);
  if (taken.length === 0) return [state, effects];
  for (const read of taken) {
    effects.push({ do: 'parse', ticket: read.permit, thread: state.thread, task: read.task });
  }
  return [{ ...state, waiting: state.waiting.slice(taken.length), reading: [...state.reading, ...taken] }, effects];
}
