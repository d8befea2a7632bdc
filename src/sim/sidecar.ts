/**
 * The simulated browser service: what stands behind the third tier, and is ill at times.
 *
 * Well, it fetches the page from the simulated web as a browser would, and tells what it has made of it. Ill, it answers
 * with an error at once, or not at all until the client's deadline; the site hears nothing of that. It is always well again
 * in the end. Its log is its own, and is what the crawl is judged by (B1).
 */
import { gunzipSync } from 'node:zlib';
import type { BackendFailure, FetchedResponse, FetchRequest, FetchResult } from '../domain/fetching.js';
import type { FetchPort } from '../protocols/ports.js';
import type { Owner, Simulation } from './events.js';
import { headerOf } from './answers.js';

export interface Illness {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Every call fails at once, or none is answered. */
  readonly how: 'errors' | 'hangs';
  /** Of so many calls one works all the same; absent: none does. */
  readonly sparesOneOf?: number;
}

export interface Call {
  readonly owner: Owner;
  readonly url: string;
  readonly beganAtMs: number;
  /** Null while it is under way, or where its client died. */
  endedAtMs: number | null;
  /** Null as well where it was given up. */
  outcome: 'worked' | 'failed' | null;
}

export interface Sidecar {
  readonly port: FetchPort;
  readonly calls: readonly Call[];
}

/** An error comes quickly. */
const ERROR_MS = 40;

export function createSidecar(simulation: Simulation, illnesses: readonly Illness[], web: FetchPort): Sidecar {
  const calls: Call[] = [];
  const browse = async (request: FetchRequest, signal: AbortSignal): Promise<FetchResult> => {
    const { nowMs, owner } = simulation;
    const call: Call = { owner, url: request.url, beganAtMs: nowMs, endedAtMs: null, outcome: null };
    calls.push(call);
    const illness = illnesses.find((one) => isIn(one, nowMs) && calls.length % (one.sparesOneOf ?? Infinity) !== 0);
    const result =
      illness === undefined
        ? await web.fetch(request, signal)
        : await suffer(simulation, illness, request.deadlineMs, signal);
    call.endedAtMs = simulation.nowMs;
    if (result.kind === 'backend_failure') call.outcome = 'failed';
    if (result.kind !== 'response') return result;
    call.outcome = 'worked';
    const page = rendered(request.url, result);
    // What was unpacked is more than what was handed out.
    web.release(result.body.length - page.body.length);
    return page;
  };
  return { calls, port: { fetch: browse, release: (bytes) => web.release(bytes) } };
}

function isIn({ fromMs, untilMs }: Illness, nowMs: number): boolean {
  return nowMs >= fromMs && nowMs < untilMs;
}

function suffer(
  simulation: Simulation,
  { how }: Illness,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<FetchResult> {
  const afterMs = how === 'errors' ? ERROR_MS : deadlineMs;
  const code = how === 'errors' ? 'backend_failed' : 'backend_timeout';
  const failure: BackendFailure = { kind: 'backend_failure', code, detail: 'it is ill', durationMs: afterMs };
  return new Promise((resolve) => {
    const { owner } = simulation;
    const fail = (): void => {
      signal.removeEventListener('abort', interrupt);
      resolve(failure);
    };
    const end = simulation.after(afterMs, fail, { owner, label: 'the browser service fails' });
    const interrupt = (): void => {
      end.cancel();
      const given = { kind: 'failure', code: 'interrupted', detail: 'given up', status: null } as const;
      resolve({ ...given, durationMs: 0, reusedConnection: false });
    };
    signal.addEventListener('abort', interrupt, { once: true });
  });
}

/** The markup without its coding; nothing of a page moves a simulated browser to another URL. */
function rendered(url: string, response: FetchedResponse): FetchedResponse {
  const isPacked = headerOf(response.headers, 'content-encoding') === 'gzip';
  const body = isPacked ? Uint8Array.from(gunzipSync(response.body)) : response.body;
  return { ...response, body, rendered: { finalUrl: url, userAgent: 'SimulatedBrowser/1', cookies: [] } };
}
