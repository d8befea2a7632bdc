/** What a kernel counts, as whoever asks from outside gets it: plain data, apart from what counts it. */

export type DeathOfLetter =
  | 'no_such_actor'
  | 'wrong_shard'
  | 'stopped'
  | 'stopping'
  | 'cooling'
  | 'inbox_full'
  | 'oldest_dropped'
  | 'not_understood'
  | 'in_hand_dropped'
  | 'set_aside';

export interface DeadLetterCount {
  /** First name of the paths that they were meant for. */
  readonly under: string;
  readonly message: string;
  readonly count: number;
}

export interface ActorCounts {
  readonly path: string;
  readonly kind: 'actor' | 'onDemand';
  readonly turns: number;
  readonly messages: number;
  readonly restarts: number;
  /** Messages that wait. */
  readonly inbox: number;
  /** 1 or 0 for an actor; cells in the directory for actors on demand. */
  readonly live: number;
}

export interface KernelCounts {
  readonly actors: readonly ActorCounts[];
  readonly deadLetters: readonly DeadLetterCount[];
  /** Answers that came for an incarnation that was gone. */
  readonly staleAnswers: number;
  readonly faultsInjected: number;
  /** Errors of ports, hooks and the kernel itself that were caught. */
  readonly strays: number;
  readonly timers: number;
}
