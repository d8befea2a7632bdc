/**
 * Reads nginx's access log as a witness.
 *
 * nginx writes one line a request when it is over, with the time of its end and how long it took; both are rounded to a
 * millisecond, so the judge grants two. Robots texts are not in the log and are asked for by host.
 *
 *     log_format witness escape=json '{"msec":$msec,"request_time":$request_time,"host":"$host",'
 *       '"request_method":"$request_method","request_uri":"$request_uri","status":$status,"connection":$connection,'
 *       '"request_completion":"$request_completion","retry_after":"$sent_http_retry_after"}';
 */
import type { EndEvent, StartEvent, WitnessEvent } from './witness.js';

export interface NginxReading {
  /** The robots.txt that a host served; undefined where it had none. */
  readonly robotsOf?: (host: string) => string | undefined;
}

/** nginx's status for a client that closed the connection before the answer. */
const CLIENT_CLOSED = 499;

/** Both events of one line; `id` must differ from line to line. Throws on a line that isn't in the format. */
export function fromNginx(line: string, id: number, { robotsOf }: NginxReading = {}): [StartEvent, EndEvent] {
  const row = JSON.parse(line) as Record<string, unknown>;
  const [msec, tookSeconds] = [Number(row.msec), Number(row.request_time)];
  const [host, uri] = [row.host, row.request_uri];
  if (!Number.isFinite(msec) || !Number.isFinite(tookSeconds) || typeof host !== 'string' || typeof uri !== 'string') {
    throw new SyntaxError(`not a line of the witness format: ${line.slice(0, 200)}`);
  }
  const status = Number(row.status);
  const endedAt = Math.round(msec * 1_000);
  const aborted = status === CLIENT_CLOSED || row.request_completion === '';
  const retryAfter = Number(row.retry_after || Number.NaN);
  const robots = uri === '/robots.txt' && status === 200 ? robotsOf?.(host) : undefined;
  return [
    {
      e: 'S',
      i: id,
      t: endedAt - Math.round(tookSeconds * 1_000),
      h: host,
      m: String(row.request_method ?? 'GET'),
      u: uri,
      c: Number(row.connection ?? 0),
    },
    {
      e: 'E',
      i: id,
      t: endedAt,
      s: status,
      how: aborted ? 'abort' : 'done',
      ...(Number.isFinite(retryAfter) ? { ra: retryAfter } : {}),
      ...(robots === undefined ? {} : { rb: robots }),
    },
  ];
}

/** A whole log, sorted by time; at one instant a request's start stands before its end, and lower numbers first. */
export function eventsFromNginx(lines: Iterable<string>, reading: NginxReading = {}): WitnessEvent[] {
  const events: (StartEvent | EndEvent)[] = [];
  let id = 0;
  for (const line of lines) if (line.trim() !== '') events.push(...fromNginx(line, ++id, reading));
  return events.sort((a, b) => a.t - b.t || a.i - b.i || (a.e === 'S' ? -1 : 1));
}
