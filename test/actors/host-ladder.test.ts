/** A host and the ladder: how its pages climb, what it remembers, and what waits for the browser service (R2, B1, B2). */
import { describe, expect, it } from 'vitest';
import { host } from '../../src/actors/host.js';
import type { Props } from '../../src/actors/host-state.js';
import type { FetchRequest, FetchResult, RenderedCookie } from '../../src/domain/fetching.js';
import type { ChallengeKind, PageFacts } from '../../src/domain/parsing.js';
import type { QueueEntry } from '../../src/domain/record.js';
import type { Tier } from '../../src/domain/tier.js';
import { ALLOW_ALL } from '../../src/policy/robots/rules.js';
import type { HostPart } from '../../src/protocols/commit.js';
import type { HostSnapshot } from '../../src/protocols/host-snapshot.js';
import type { Ask, Permit } from '../../src/protocols/workbench.js';
import { ADDRESSES, NAME, PROPS } from './support/host-world.js';
import { WALL_AHEAD_MS } from './support/instants.js';
import { ANY_RULES, candidateOf, headOf, readyEntry } from './support/records.js';
import { of, Stage, told } from './support/stage.js';

const ORIGIN = `http://${NAME}`;
const MEMORY_MS = 3_600_000;
const OPEN = { phase: 'fresh', rules: ALLOW_ALL, status: 200, fetchedAtMs: WALL_AHEAD_MS, validators: null } as const;
const TIERED: Partial<Props> = { ladder: { tiers: [1, 2, 3], memoryMs: MEMORY_MS }, window: 8, quota: 100, delayMs: 0 };

interface Line {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A host whose commits are there at once; its permits, answers and readings come when a test says so. */
class Scene {
  readonly stage: Stage<Props, ReturnType<typeof host.start>[0], Parameters<(typeof host.on)['granted']>[1] | never>;
  readonly rows = new Map<number, QueueEntry>();
  readonly parts: HostPart[] = [];
  readonly lines: Line[] = [];
  ask: Ask | null = null;
  request: FetchRequest | null = null;
  rested: number | null | 'no' = 'no';
  private permit: Permit | null = null;
  lastPermit = 0;

  constructor(entries: readonly QueueEntry[], props: Partial<Props> = TIERED, snapshot: HostSnapshot | null = null) {
    this.stage = new Stage(host as never, { ...PROPS, ...props } as Props) as never;
    for (const entry of entries) this.rows.set(entry.at.sequence, entry);
    this.tell({ type: 'wake', wake: 1 } as never);
    const robots = [{ origin: ORIGIN, state: OPEN }];
    this.tell({ type: 'hostLoaded', host: NAME, snapshot, robots, summary: null, head: this.head() } as never);
  }

  private head() {
    const of = (queue: string) =>
      [...this.rows.values()].filter(({ at }) => at.queue === queue).sort((a, b) => a.at.sequence - b.at.sequence);
    return headOf({ ready: of('ready'), waiting: of('waiting'), parked: of('parked') });
  }

  tell(message: { readonly type: string }): void {
    this.stage.tell(message as never);
    this.look();
  }

  private look(): void {
    const effects = this.stage.take();
    for (const { event, fields } of of(effects, 'log')) this.lines.push({ event, fields });
    const answers: { readonly type: string }[] = [];
    for (const effect of effects) {
      if (effect.do === 'resolve') answers.push({ type: 'resolved', host: NAME, resolution: ADDRESSES } as never);
      if (effect.do === 'readQueue') answers.push({ type: 'queueRead', host: NAME, head: this.head() } as never);
    }
    for (const { message } of told(effects)) {
      if (message.type === 'settle' && message['ask'] !== null) this.ask = message['ask'] as unknown as Ask;
      if (message.type === 'start') this.request = message['request'] as unknown as FetchRequest;
      if (message.type === 'rested') this.rested = message['wakeAtMs'] as unknown as number | null;
      if (message.type === 'visited') answers.push(this.record(message['part'] as unknown as HostPart));
    }
    for (const answer of answers) this.tell(answer);
  }

  private record(part: HostPart): { readonly type: string } {
    this.parts.push(part);
    for (const { from, to, record } of part.moves) {
      if (to === null) this.rows.delete(from.sequence);
      else this.rows.set(from.sequence, { at: to, record });
    }
    const ready = [...this.rows.values()].filter(({ at }) => at.queue === 'ready').length;
    return { type: 'recorded', tickets: [part.ticket], ready, blocked: 0 } as never;
  }

  /** Grants what is asked for, and what is asked for instead; what is asked of the web then. */
  grant(): FetchRequest {
    const request = this.grantOnce() ?? this.grantOnce();
    if (request === null) throw new Error('nothing was begun');
    return request;
  }

  grantOnce(): FetchRequest | null {
    const { ask } = this;
    if (ask === null) throw new Error('it asks for nothing');
    this.ask = null;
    this.request = null;
    const { nowMs } = this.stage;
    this.permit = {
      number: ++this.lastPermit,
      host: NAME,
      address: ask.address,
      tier: ask.tier,
      fetcher: 0,
      delivery: 'retry',
      expiresAtMs: nowMs + 5_000,
      deadlineMs: nowMs + 40_000,
      rules: ANY_RULES,
    };
    this.tell({ type: 'granted', permit: this.permit } as never);
    return this.request;
  }

  decline(forMs: number): void {
    const { ask } = this;
    if (ask === null) throw new Error('it asks for nothing');
    this.ask = null;
    this.tell({ type: 'declined', tier: ask.tier, untilMs: this.stage.nowMs + forMs } as never);
  }

  answer(result: FetchResult): void {
    this.tell({ type: 'fetched', permit: this.permit?.number, result } as never);
  }

  /** An answer with this status whose body, if it is read, is this. */
  respond(status: number, what: Body = 'page', cookies: readonly RenderedCookie[] = []): void {
    const tier = this.request?.tier;
    const url = this.request?.url ?? '';
    const finalUrl = what === 'away' ? 'http://b.example/' : url;
    const rendered = tier === 3 ? { rendered: { finalUrl, userAgent: 'Browser/1', cookies } } : {};
    this.answer({ ...ANSWER, status, ...rendered });
    const visit = (this.stage.state as { open: Map<number, { phase: string }> }).open.get(this.lastPermit);
    if (visit?.phase === 'reading')
      this.tell({ type: 'parsed', permit: this.lastPermit, result: parsed(what) } as never);
  }

  /** Grants and answers. */
  visit(status: number, what: Body = 'page', cookies: readonly RenderedCookie[] = []): FetchRequest {
    const request = this.grant();
    this.respond(status, what, cookies);
    return request;
  }

  pass(ms: number): void {
    this.stage.pass(ms);
    this.look();
  }

  wake(): void {
    this.tell({ type: 'wake', wake: this.parts.length + 2 } as never);
  }

  row(sequence: number): QueueEntry {
    const row = this.rows.get(sequence);
    if (row === undefined) throw new Error(`row ${sequence} has left`);
    return row;
  }

  get last(): HostPart {
    return this.parts.at(-1) as HostPart;
  }

  get snapshot(): HostSnapshot {
    return this.last.snapshot;
  }
}

type Body = 'page' | 'away' | ChallengeKind;

const ANSWER = {
  kind: 'response',
  status: 200,
  statusText: '',
  httpVersion: '1.1',
  headers: [
    ['Content-Type', 'text/html; charset=latin1'],
    ['Content-Encoding', 'gzip'],
    ['ETag', '"x"'],
  ],
  rawHead: null,
  sentHead: null,
  body: new Uint8Array(3),
  cut: false,
  durationMs: 5,
  remoteAddress: '192.0.2.1',
} as const;

const FACTS: PageFacts = {
  mime: 'text/html',
  charset: 'utf-8',
  title: null,
  textLength: 0,
  simhash: null,
  canonical: null,
  kind: 'document',
  challenge: null,
  links: [candidateOf(`${ORIGIN}/linked`)],
  linksRefused: 0,
  noindex: false,
  nofollow: false,
};

function parsed(what: Body) {
  const challenge = what === 'page' || what === 'away' ? null : { kind: what, reasons: ['it says so'] };
  return {
    kind: 'parsed',
    payloadDigest: 'sha1:A',
    contentDigest: 'sha1:A',
    decodedBytes: 3,
    page: { ...FACTS, challenge },
    redirect: what === 'away' ? candidateOf('http://b.example/', { source: 'redirect' }) : null,
    decoded: null,
    archive: {
      bytes: new Uint8Array(1),
      responseOffset: 0,
      responseLength: 1,
      recordId: 'urn:uuid:1',
      payloadDigest: 'sha1:A',
      head: '',
    },
    parseMicros: 1,
  };
}

const failure = (code: 'backend_failed' | 'backend_timeout' = 'backend_timeout'): FetchResult => ({
  kind: 'backend_failure',
  code,
  detail: 'it did not answer',
  durationMs: 30_000,
});
const page = (sequence: number, changes: Partial<QueueEntry['record']> = {}) =>
  readyEntry(`${ORIGIN}/${sequence}`, sequence, changes);
const header = ({ headers }: FetchRequest, name: string) => headers.find(([it]) => it === name)?.[1];
const cookie = (changes: Partial<RenderedCookie> = {}): RenderedCookie => ({
  name: 'pass',
  value: '1',
  domain: NAME,
  path: '/',
  expiresAtMs: null,
  ...changes,
});

/** A host that is known to need a browser, as its first page has shown. */
function climbed(rows: number, props: Partial<Props> = {}, cookies: readonly RenderedCookie[] = []): Scene {
  const entries = Array.from({ length: rows + 1 }, (_, n) => page(n));
  const scene = new Scene(entries.slice(0, 1), { ...TIERED, ladder: { tiers: [1, 3], memoryMs: MEMORY_MS }, ...props });
  scene.visit(200, 'challenge');
  while (scene.row(0).record.ladder !== 3) scene.visit(200, 'challenge');
  scene.visit(200, 'page', cookies);
  for (const entry of entries.slice(1)) scene.rows.set(entry.at.sequence, entry);
  if (rows > 0) scene.wake();
  return scene;
}

describe('R2: a page climbs', () => {
  it('from 403 to 403 to content: one tier at a time, without a delivery, its row where it was', () => {
    const scene = new Scene([page(1)]);
    expect(scene.ask?.tier).toBe(1);
    scene.visit(403);
    expect(scene.row(1)).toMatchObject({ at: { queue: 'ready', sequence: 1 }, record: { ladder: 2, deliveries: 0 } });
    expect(scene.last.visits).toMatchObject([{ attempt: { outcome: 'challenged', code: 'http_forbidden', tier: 1 } }]);
    expect(scene.ask?.tier).toBe(2);
    scene.visit(403);
    expect(scene.row(1).record).toMatchObject({ ladder: 3, deliveries: 0 });
    expect(scene.visit(200).tier).toBe(3);
    expect(scene.rows.size).toBe(0);
    expect(scene.last.moves).toMatchObject([{ to: null, record: { state: 'active', ladder: null, deliveries: 0 } }]);
    const climbs = scene.lines.filter(({ event }) => event === 'escalated').map(({ fields }) => fields);
    expect(climbs).toEqual([
      { url: `${ORIGIN}/1`, from: 1, to: 2, cause: 'http_forbidden' },
      { url: `${ORIGIN}/1`, from: 2, to: 3, cause: 'http_forbidden' },
    ]);
  });

  it('a challenge is no content: no page, no archive, no link; its reasons are kept', () => {
    const scene = new Scene([page(1)], { ...TIERED, archive: true });
    scene.visit(200, 'challenge');
    expect(scene.last).toMatchObject({ page: null, archive: null, admitted: [] });
    expect(scene.row(1).record.attempts.at(-1)).toMatchObject({ code: 'challenge', status: 200, detail: 'it says so' });
    expect(scene.ask?.tier).toBe(2);
    scene.visit(200, 'page');
    expect(scene.last.page).not.toBeNull();
    expect(scene.last.archive).not.toBeNull();
  });

  it('a shell goes to the browser at once; where there is none it is tried late, and is no content', () => {
    const scene = new Scene([page(1)]);
    scene.visit(200, 'script_shell');
    expect(scene.ask?.tier).toBe(3);
    const poor = new Scene([page(1)], { ...TIERED, ladder: { tiers: [1, 2], memoryMs: MEMORY_MS } });
    poor.visit(200, 'script_shell');
    expect(poor.last.page).toBeNull();
    expect(poor.row(1)).toMatchObject({ at: { queue: 'waiting' }, record: { deliveries: 1, ladder: null } });
  });

  it('at the top it costs the one delivery of the ladder; after eight it is dead, as challenged', () => {
    const scene = new Scene([page(1)], { ...TIERED, retryLateMs: 1_000 });
    for (let delivery = 1; delivery <= 8; delivery++) {
      expect(scene.visit(200, 'challenge').tier).toBe(1);
      expect(scene.visit(200, 'challenge').tier).toBe(2);
      expect(scene.visit(200, 'challenge').tier).toBe(3);
      if (delivery === 8) break;
      const { at, record } = scene.row(1);
      expect([at.queue, record.deliveries, record.ladder]).toEqual(['waiting', delivery, null]);
      scene.pass(1_300);
      scene.wake();
    }
    expect(scene.rows.size).toBe(0);
    expect(scene.last.dead).toMatchObject([{ cause: 'challenged', code: 'challenge', deliveries: 8 }]);
  });

  it('never on 5xx, and a retry is of the tier that failed, whatever its host needs by then', () => {
    const scene = new Scene([page(1), page(2)]);
    scene.visit(500);
    expect(scene.row(1)).toMatchObject({ at: { queue: 'waiting' }, record: { ladder: 1, deliveries: 1 } });
    scene.visit(200, 'challenge');
    scene.visit(500);
    expect(scene.row(2)).toMatchObject({ at: { queue: 'waiting' }, record: { ladder: 2, deliveries: 1 } });
    scene.pass(3_000);
    scene.wake();
    expect(scene.visit(200)).toMatchObject({ url: `${ORIGIN}/1`, tier: 1 });
    expect(scene.visit(200)).toMatchObject({ url: `${ORIGIN}/2`, tier: 2 });
  });

  it('P6: what a browser found on another host is a redirect to there, kept under no name of this one', () => {
    const scene = new Scene([page(1)], { ...TIERED, archive: true });
    scene.visit(200, 'script_shell');
    scene.visit(200, 'away');
    expect(scene.last.visits).toMatchObject([{ attempt: { outcome: 'redirected', detail: 'http://b.example/' } }]);
    expect(scene.last.page).toBeNull();
  });

  it('P4, P5: robots.txt is asked for as what we are, whatever the host needs', () => {
    const scene = climbed(0);
    scene.tell({
      type: 'errand',
      for: 'c.example',
      origin: ORIGIN,
      url: `${ORIGIN}/robots.txt`,
      validators: null,
    } as never);
    const request = scene.grant();
    expect([request.tier, header(request, 'user-agent')]).toEqual([1, PROPS.userAgent]);
  });
});

describe('what a request is made of', () => {
  it('a browser brings its own headers, and is not asked for what has changed', () => {
    const known = { etag: '"v1"', digest: 'sha1:A', archived: null };
    const scene = new Scene([page(1, known)]);
    expect(header(scene.visit(403), 'user-agent')).toBe(PROPS.userAgent);
    const second = scene.visit(403);
    expect([header(second, 'user-agent'), header(second, 'if-none-match')]).toEqual([undefined, '"v1"']);
    const third = scene.visit(200);
    expect(third.headers).toEqual([]);
    expect(third.deadlineMs).toBe(PROPS.browserMsMax);
    // What the server says of its version is not said of what scripts made of it.
    expect(scene.last.moves).toMatchObject([{ record: { etag: null, digest: 'sha1:A' } }]);
  });

  it('clearance is shown to its host from tier 2 on, under the very name that earned it, until it ends', () => {
    const scene = climbed(3, { ladder: TIERED.ladder as Props['ladder'] }, [
      cookie({ expiresAtMs: WALL_AHEAD_MS + 5_000 }),
    ]);
    expect(scene.snapshot.ladder.clearance).toMatchObject({ userAgent: 'Browser/1' });
    // So a host that has let us pass is not asked for a browser again.
    const request = scene.visit(200);
    expect([request.tier, header(request, 'cookie'), header(request, 'user-agent')]).toEqual([
      2,
      'pass=1',
      'Browser/1',
    ]);
    scene.pass(5_000);
    const later = scene.visit(200);
    expect([later.tier, header(later, 'cookie')]).toEqual([3, undefined]);
  });

  it('clearance that is refused all the same is dropped, and not tried a tier lower again', () => {
    const scene = climbed(3, { ladder: TIERED.ladder as Props['ladder'] }, [cookie()]);
    expect(scene.visit(200, 'challenge').tier).toBe(2);
    expect(scene.snapshot.ladder).toMatchObject({ clearance: null, need: { tier: 3, clearance: 'spurned' } });
    expect(scene.visit(200, 'page', [cookie()]).tier).toBe(3);
    const request = scene.visit(200);
    expect([request.tier, header(request, 'cookie')]).toEqual([3, 'pass=1']);
  });
});

describe('what a host is remembered to need', () => {
  it('its other pages begin there; when that is not believed any more one is tried lower, and content brings it down', () => {
    const scene = climbed(4);
    expect(scene.visit(200).tier).toBe(3);
    scene.pass(MEMORY_MS);
    expect(scene.grant().tier).toBe(1);
    scene.respond(200);
    expect(scene.snapshot.ladder.need).toBeNull();
    expect(scene.visit(200).tier).toBe(1);
  });

  it('one page at a time is out to try; refused, the host is believed for twice as long, and that page climbs', () => {
    const scene = climbed(4);
    scene.pass(MEMORY_MS);
    scene.grant();
    // While it is being read, the next page is asked for as the host is known to need.
    scene.answer({ ...ANSWER, status: 200 });
    expect(scene.ask?.tier).toBe(3);
    scene.tell({ type: 'parsed', permit: scene.lastPermit, result: parsed('challenge') } as never);
    expect(scene.snapshot.ladder.need).toMatchObject({ believedForMs: 2 * MEMORY_MS });
    expect(scene.row(1).record.ladder).toBe(3);
    scene.visit(200);
    expect(scene.ask?.tier).toBe(3);
  });

  it('is in the same part as the page that has shown it, and outlives the incarnation', () => {
    const first = climbed(1, {}, [cookie()]);
    const scene = new Scene([page(7)], { ...TIERED, ladder: { tiers: [1, 3], memoryMs: MEMORY_MS } }, first.snapshot);
    const request = scene.grant();
    expect([request.tier, header(request, 'cookie')]).toEqual([3, 'pass=1']);
  });
});

describe('B2: the browser service is down', () => {
  it('a failure parks its row: no delivery, nothing of it for the breaker of the host or its delay', () => {
    const scene = climbed(2, { adaptiveFactor: 10 });
    const { breaker, lastDurationMs, browserTime } = scene.snapshot;
    scene.grant();
    scene.answer(failure());
    expect(scene.row(1)).toMatchObject({ at: { queue: 'parked' }, record: { state: 'parked', deliveries: 0 } });
    expect(scene.last.visits).toMatchObject([{ attempt: { outcome: 'parked', code: 'backend_timeout', tier: 3 } }]);
    expect(scene.snapshot).toMatchObject({ breaker, lastDurationMs, browserTime });
    expect(scene.last.wakeAtMs).toBe(WALL_AHEAD_MS + 2_000);
  });

  it('declined, what needs it is parked, and everything else of the host goes on', () => {
    const scene = climbed(4);
    const plain = scene.row(4);
    scene.rows.set(4, { ...plain, record: { ...plain.record, ladder: 1 } });
    scene.wake();
    scene.decline(120_000);
    expect([1, 2, 3].map((n) => scene.row(n).at.queue)).toEqual(['parked', 'parked', 'parked']);
    expect(scene.row(1).record.attempts.at(-1)).toMatchObject({ code: 'backend_down', outcome: 'parked' });
    expect(scene.visit(200)).toMatchObject({ tier: 1, url: `${ORIGIN}/4` });
    expect(scene.ask).toBeNull();
    expect(scene.rested).toBe(WALL_AHEAD_MS + 120_000);
  });

  it('when the time has come one parked row asks, and none moves before; the first page frees the rest', () => {
    const scene = climbed(3);
    scene.decline(120_000);
    scene.pass(120_000);
    const partsBefore = scene.parts.length;
    scene.wake();
    expect(scene.ask?.tier).toBe(3);
    expect(scene.parts.length).toBe(partsBefore);
    // Declined once more, it stays where it is and nothing is written.
    scene.decline(120_000);
    expect([scene.parts.length, scene.rested]).toEqual([partsBefore, WALL_AHEAD_MS + 240_000]);
    scene.pass(120_000);
    scene.wake();
    expect(scene.visit(200)).toMatchObject({ tier: 3, url: `${ORIGIN}/1` });
    expect([2, 3].map((n) => scene.row(n).at.queue)).toEqual(['ready', 'ready']);
    expect(scene.visit(200).url).toBe(`${ORIGIN}/2`);
    expect(scene.visit(200).url).toBe(`${ORIGIN}/3`);
  });

  it('a page that the service fails on is not the only one that is tried: the others have their turn', () => {
    const scene = climbed(3);
    scene.decline(1_000);
    const tried: string[] = [];
    for (let probe = 0; probe < 6; probe++) {
      scene.pass(300_000);
      scene.wake();
      tried.push(scene.grant().url.slice(ORIGIN.length));
      scene.answer(failure('backend_failed'));
    }
    expect(tried).toEqual(['/1', '/2', '/3', '/1', '/2', '/3']);
    expect([1, 2, 3].map((n) => scene.row(n).record.deliveries)).toEqual([0, 0, 0]);
  });

  it('a host that needs no browser any more frees what waits for one', () => {
    const scene = climbed(2);
    scene.decline(10 * MEMORY_MS);
    expect(scene.row(1).at.queue).toBe('parked');
    scene.pass(MEMORY_MS);
    scene.rows.set(9, page(9));
    scene.wake();
    expect(scene.visit(200)).toMatchObject({ tier: 1, url: `${ORIGIN}/9` });
    expect(scene.visit(200)).toMatchObject({ tier: 1, url: `${ORIGIN}/1` });
  });

  it('after a restart nothing is known of the service: what is parked is asked for, one by one', () => {
    const first = climbed(2);
    first.decline(120_000);
    const scene = new Scene(
      [first.row(1), first.row(2)],
      { ...TIERED, ladder: { tiers: [1, 3], memoryMs: MEMORY_MS } },
      first.snapshot,
    );
    expect(scene.visit(200)).toMatchObject({ tier: 3, url: `${ORIGIN}/1` });
    expect(scene.row(2).at.queue).toBe('ready');
  });

  it('L2, R1: however long it is ill, nothing of it dies', () => {
    const scene = climbed(1);
    for (let times = 0; times < 30; times++) {
      scene.grant();
      scene.answer(failure());
      scene.pass(300_000);
      scene.wake();
    }
    expect(scene.row(1).record.deliveries).toBe(0);
    expect(scene.parts.flatMap(({ dead }) => dead)).toEqual([]);
    expect(scene.visit(200).url).toBe(`${ORIGIN}/1`);
    expect(scene.rows.size).toBe(0);
  });
});

describe('a permit of another tier than that of the first row', () => {
  it('is spent on a row that it fits, rather than given back', () => {
    const scene = new Scene([page(0), page(1)]);
    scene.visit(200, 'challenge');
    expect([scene.row(0).record.ladder, scene.ask?.tier]).toEqual([2, 1]);
    expect(scene.visit(200)).toMatchObject({ url: `${ORIGIN}/1`, tier: 1 });
    expect(scene.visit(200)).toMatchObject({ url: `${ORIGIN}/0`, tier: 2 });
  });
});

describe("the browser's time of a host", () => {
  it('used up, its rows wait for the next day without a delivery; what needs no browser goes on', () => {
    const scene = climbed(2, { browserMsPerDay: 10 });
    scene.visit(200);
    expect(scene.snapshot.browserTime.usedMs).toBe(10);
    expect(scene.row(2)).toMatchObject({ at: { queue: 'waiting' }, record: { deliveries: 0, state: 'waiting' } });
    const { at, record } = scene.row(2);
    expect(record.attempts.at(-1)).toMatchObject({ outcome: 'parked', code: 'browser_budget', tier: 3 });
    expect(at.queue === 'waiting' ? at.dueAtMs % 86_400_000 : -1).toBe(0);
    expect(scene.rested).toBe(at.queue === 'waiting' ? at.dueAtMs : -1);
  });
});

const TIERS: readonly Tier[] = [1, 2, 3];
describe('a permit', () => {
  it.each(TIERS)('of tier %i that is not the one that is wanted by now is given back', (tier) => {
    const scene = new Scene([page(1, { ladder: tier })]);
    const wanted = scene.ask?.tier;
    expect(wanted).toBe(tier);
    const other = TIERS.find((one) => one !== tier) as Tier;
    scene.ask = { ...(scene.ask as Ask), tier: other };
    expect(scene.grantOnce()).toBeNull();
    expect(scene.ask).toMatchObject({ tier });
  });
});
