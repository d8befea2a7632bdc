/**
 * `orbweaver sim`: the real actors against a simulated web in simulated time; invariants are checked from outside.
 *
 * A failing universe is made small, told as a story, and can be seen again by the command that is printed with it.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { UNIVERSE_DEFAULTS, type UniverseSettings } from '../sim/settings.js';
import type { Mode } from '../sim/swarm.js';
import type { UniverseResult } from '../sim/universe.js';
import { wholeNumber, withJsonOption } from './options.js';
import { examples } from './program.js';
import { CommandError, EXIT, type ExitCode, printJson, type Terminal, untilInterrupted } from './terminal.js';

/** What stands in the place of what the seed draws. */
interface Overrides {
  readonly hosts?: number;
  readonly pages?: number;
  readonly kills?: number;
  readonly powerLosses?: number;
  readonly actorCrashes?: number;
  readonly cuts?: number;
  readonly pauses?: number;
  readonly exclusions?: number;
  readonly sowings?: number;
  readonly diskErrors?: number;
  readonly doors?: number;
  readonly illnesses?: number;
  readonly redrives?: number;
}

interface SimOptions extends Overrides {
  readonly seed: number;
  readonly seeds: number;
  readonly mode: Mode | 'both';
  readonly days?: number;
  readonly universe?: Partial<UniverseSettings>;
  readonly disk: boolean;
  readonly shrink: boolean;
  readonly json: boolean;
}

const DAY_MS = 86_400_000;
const EVENTS_MAX = 1_000_000_000;
/** Of a universe that has to come to an end by itself. */
const SWARM_EVENTS_MAX = 20_000_000;
const SWARM_DAYS_MAX = 90;
/** So many planned faults of a kind, and none that came to pass, are no proof of anything. */
const PLANNED_MIN = 5;
const LONG_RUN_HOSTS = 100;

export function simCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const count = wholeNumber(0, 100_000);
  const command = new Command('sim')
    .description('crawl simulated, failing webs in simulated time and judge the crawl by the servers’ own log')
    .option('--seed <n>', 'the first universe; the same seed has the same history', wholeNumber(0, 2 ** 32 - 1), 1)
    .option('--seeds <count>', 'how many universes, one after the other', wholeNumber(1, 1e6), 1)
    .addOption(
      new Option(
        '--mode <mode>',
        'liveness: until nothing is left; safety: cut short in the trouble; both: by even and odd seeds',
      )
        .choices(['liveness', 'safety', 'both'])
        .default('both'),
    )
    .option('--days <d>', 'one crawl that runs on for so many simulated days instead', wholeNumber(1, 3_650))
    .option('--hosts <h>', 'hosts of the web, instead of a number drawn', wholeNumber(1, 10_000))
    .option('--pages <n>', 'pages on all hosts together, likewise', wholeNumber(1, 1e6))
    .option('--kills <n>', 'deaths of the process (kill -9)', count)
    .option('--power-losses <n>', 'deaths of the machine', count)
    .option('--actor-crashes <n>', 'crashes of actors, in each life', count)
    .option('--cuts <n>', 'times in which the network is down', count)
    .option('--pauses <n>', 'pauses by command, each taken back after a while', count)
    .option('--exclusions <n>', 'parts of the web excluded by command, each taken back', count)
    .option('--sowings <n>', 'times that seeds are brought while it runs', count)
    .option('--disk-errors <n>', 'writes that fail', count)
    .option('--doors <share>', 'of hosts (0 to 1) whose pages a plain request does not get', share)
    .option('--illnesses <n>', 'times in which the browser service fails or hangs', count)
    .option('--redrives <n>', 'times that dead letters are brought back by command', count)
    .option('--disk', 'over a real LevelDB and real files instead of memory', false)
    .option('--universe <json>', 'the one universe with these settings, as a failing one prints them', settingsOf)
    .option('--no-shrink', 'tell a failing universe as it is')
    .addHelpText('after', () =>
      examples(
        ['sim --seeds 100', 'a hundred small universes, each with other troubles'],
        ['sim --days 1 --hosts 100', 'a day of a web of a hundred hosts, in some minutes'],
        ['sim --seeds 50 --doors 0.7 --illnesses 3', 'refusals, and a browser service that is not always well'],
        ['sim --seed 7 --kills 20 --disk', 'many deaths, over a real LevelDB and real files'],
      ),
    );
  return withJsonOption(command).action(async (options: SimOptions) => {
    refuseConflicts(command);
    const tally = new Tally();
    let seed = options.seed;
    // Simulated time never comes back to wait: an interrupt ends the process, with a word on how far it came.
    void untilInterrupted().then(() => {
      const done = `${seed - options.seed} of ${options.seeds} universes done`;
      terminal.note(`Interrupted: ${done}, ${tally.violations} violations.`);
      process.exit(EXIT.interrupted);
    });
    for (; seed < options.seed + (options.universe === undefined ? options.seeds : 1); seed++) {
      const result = await run(await settingsFor(seed, options));
      tally.add(result);
      await report(result, options, terminal);
    }
    conclude(tally, { ...options, seeds: seed - options.seed }, terminal);
    ended(tally.isClean ? EXIT.done : EXIT.failed);
  });
}

/** What would be left out silently is refused. */
function refuseConflicts(command: Command): void {
  const isGiven = (option: string): boolean => command.getOptionValueSource(option) === 'cli';
  const drawn = ['seed', 'seeds', 'mode', 'days', 'hosts', 'pages'];
  const pairs = [...drawn.map((other) => ['universe', other] as const), ['days', 'mode'] as const];
  for (const [one, other] of pairs) {
    if (!isGiven(one) || !isGiven(other)) continue;
    throw new CommandError(
      'usage',
      `--${one} and --${other} exclude each other`,
      EXIT.usage,
      'sim',
      `leave --${other} out`,
    );
  }
}

function share(text: string): number {
  const value = Number(text);
  if (/^[\d.]+$/.test(text) && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('expected a share from 0 to 1, as in 0.7.');
}

function settingsOf(text: string): Partial<UniverseSettings> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return checked(value);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new InvalidArgumentError('expected a JSON object, as a failing universe prints it.');
}

/** A replay with a slip of the pen would be another universe. */
function checked(value: object): Partial<UniverseSettings> {
  const entries = Object.entries(value);
  if (entries.length === 0) throw new InvalidArgumentError('no setting stands in it.');
  for (const [key, given] of entries) {
    const usual: unknown = Object.hasOwn(UNIVERSE_DEFAULTS, key)
      ? UNIVERSE_DEFAULTS[key as keyof UniverseSettings]
      : null;
    if (usual === null) throw new InvalidArgumentError(`a universe has no setting ${JSON.stringify(key)}.`);
    const isRight =
      typeof given === typeof usual && (typeof given !== 'number' || (Number.isFinite(given) && given >= 0));
    if (isRight && (key !== 'medium' || given === 'memory' || given === 'disk')) continue;
    throw new InvalidArgumentError(`${key} is like ${JSON.stringify(usual)}, not ${JSON.stringify(given)}.`);
  }
  return value;
}

async function settingsFor(seed: number, options: SimOptions): Promise<Partial<UniverseSettings>> {
  if (options.universe !== undefined) return options.universe;
  const { drawSwarm, longRun } = await import('../sim/swarm.js');
  const medium = options.disk ? ({ medium: 'disk' } as const) : {};
  if (options.days !== undefined) {
    const long = longRun(seed, options.days, options.hosts ?? LONG_RUN_HOSTS);
    const bounds = { simulatedMsMax: (options.days + 1) * DAY_MS, eventsMax: EVENTS_MAX };
    return { ...long, ...bounds, ...overridden(options), ...medium };
  }
  const mode = options.mode === 'both' ? (seed % 2 === 0 ? 'liveness' : 'safety') : options.mode;
  const bounds = { simulatedMsMax: SWARM_DAYS_MAX * DAY_MS, eventsMax: SWARM_EVENTS_MAX };
  return { ...drawSwarm(seed, mode), ...bounds, ...overridden(options), ...medium };
}

function overridden({ diskErrors, ...options }: SimOptions): Partial<UniverseSettings> {
  const { hosts, pages, kills, powerLosses, actorCrashes, cuts, pauses, exclusions, sowings } = options;
  const { doors, illnesses, redrives } = options;
  const given = { hosts, pages, kills, powerLosses, actorCrashes, cuts, pauses, exclusions, sowings };
  const all = { ...given, doors, illnesses, redrives, storeErrors: diskErrors };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

async function run(settings: Partial<UniverseSettings>): Promise<UniverseResult> {
  const { productionEngine } = await import('../sim/engine.js');
  const { runUniverse } = await import('../sim/universe.js');
  return runUniverse(settings, productionEngine());
}

async function report(result: UniverseResult, { json, shrink }: SimOptions, terminal: Terminal): Promise<void> {
  const { evidence, ...told } = result;
  const { seed, traceHash, simulatedSeconds, requests, events, kills, faults, violations } = result;
  const replay = `sim --universe '${JSON.stringify(evidence.settings)}'`;
  if (json)
    return printJson(terminal, {
      mode: modeOf(evidence.settings),
      ...told,
      ...(violations.length === 0 ? {} : { replay }),
    });
  const mode = modeOf(evidence.settings);
  const verdict = violations.length === 0 ? 'no violation' : `${violations.length} VIOLATIONS`;
  terminal.print(
    `seed ${seed}  ${mode}  trace ${traceHash}  ${Math.round(simulatedSeconds)} s simulated, ${requests} requests, ${events} events, ${kills} kills, ${faults} faults: ${verdict}`,
  );
  if (violations.length > 0) await tell(result, shrink, terminal);
}

function modeOf({ forMs }: UniverseSettings): Mode {
  return forMs > 0 ? 'safety' : 'liveness';
}

async function tell(failing: UniverseResult, isShrunk: boolean, terminal: Terminal): Promise<void> {
  const { tellStory } = await import('../sim/story.js');
  const { shrink } = await import('../sim/shrink.js');
  const { result, tried } = isShrunk ? await shrink(failing, run) : { result: failing, tried: 0 };
  if (tried > 0) terminal.print(`Made small in ${tried} tries.`);
  terminal.print(tellStory(result));
}

/** What all universes of a run came to. */
class Tally {
  violations = 0;
  requests = 0;
  kills = 0;
  simulatedSeconds = 0;
  pages = 0;
  pardoned = 0;
  readonly #planned = new Map<string, number>();
  readonly #happened = new Map<string, number>();

  add({ planned, faultKinds, ...result }: UniverseResult): void {
    const { violations, requests, kills, simulatedSeconds, pagesExpected, pardoned } = result;
    this.violations += violations.length;
    this.requests += requests;
    this.kills += kills;
    this.pages += pagesExpected;
    this.pardoned += pardoned;
    this.simulatedSeconds += simulatedSeconds;
    for (const [kind, count] of Object.entries(planned))
      this.#planned.set(kind, count + (this.#planned.get(kind) ?? 0));
    for (const [kind, count] of Object.entries(faultKinds))
      this.#happened.set(kind, count + (this.#happened.get(kind) ?? 0));
  }

  /** Kinds of faults that were planned, and of which none came to pass: the run proves nothing of them. */
  get neverHappened(): readonly string[] {
    return [...this.#planned].flatMap(([kind, count]) =>
      count >= PLANNED_MIN && !this.#happened.has(kind) ? [kind] : [],
    );
  }

  get faults(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#happened);
  }

  get isClean(): boolean {
    return this.violations === 0 && this.neverHappened.length === 0 && this.requests > 0;
  }
}

function conclude(tally: Tally, { json, seeds, seed }: SimOptions, terminal: Terminal): void {
  const { violations, requests, kills, simulatedSeconds, pages, pardoned, faults, neverHappened } = tally;
  if (json) {
    const told = { seeds, violations, requests, kills, simulatedSeconds, pages, pardoned, faults, neverHappened };
    return printJson(terminal, { event: 'summary', ...told });
  }
  const days = (simulatedSeconds / 86_400).toFixed(1);
  const all = `${seeds} universe${seeds === 1 ? '' : 's'} from seed ${seed} on, ${days} simulated days, ${requests} requests, ${kills} kills`;
  terminal.print(violations === 0 ? `${all}: no violation.` : `${all}: ${violations} violations.`);
  if (requests === 0) terminal.print('Nothing was asked for: the run proves nothing.');
  if (pardoned > 0)
    terminal.print(`${pardoned} URLs need not have been had: each met eight failures of the world or more.`);
  for (const kind of neverHappened)
    terminal.print(`Planned, and never happened: ${kind}. The run proves nothing of it.`);
}
