/**
 * Messages and addresses: what a protocol and an effect need to name an actor without knowing how one is written.
 */

/** Every message is told apart by `type`: imperative for a command, past tense for an event. */
export interface Tagged {
  readonly type: string;
}

declare const accepts: unique symbol;

/** The address of an actor that understands `M`. It is a path, not a handle: it outlives incarnations. */
export interface Ref<in M> {
  readonly path: string;
  readonly [accepts]?: (message: M) => void;
}

/** Names an address. Paths are `/`-separated names under the root, which itself is not named. */
export function address<M>(path: string): Ref<M> {
  return { path };
}
