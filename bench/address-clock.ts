/**
 * What does a grant cost when very many names stand on one server?
 *
 * All names ask at once, and their address opens for one of them after the other. Each time its permit is granted, ended
 * and judged, and the name asks again. Growth is the cost of a grant with all names over that with a hundredth of them:
 * about 1 where an opening does not depend on how many wait, 100 where all of them are moved.
 */
import { type Props, workbench } from '../src/actors/workbench.js';
import { rulesOf } from '../src/policy/admission.js';
import { configuredRules } from '../src/config/rules.js';
import { loadConfig } from '../src/config/load.js';
import { NO_SETTINGS } from '../src/domain/crawl-settings.js';
import type { Effect } from '../src/protocols/effects.js';
import type { Message, Permit } from '../src/protocols/workbench.js';
import { drawsFrom } from '../test/actors/support/instants.js';
import { Stage } from '../test/actors/support/stage.js';
import { round } from './measure.js';
import type { Bench } from './result.js';

const HOSTS = 10_000;
const GRANTS = 500;
const ADDRESS_DELAY_MS = 100;

export const run: Bench = async ({ hosts, rounds }) => {
  const most = hosts ?? HOSTS;
  const few = Math.max(1, Math.round(most / 100));
  microsPerGrant(few, 100);
  const small = least(rounds ?? 3, () => microsPerGrant(few, GRANTS));
  const large = least(rounds ?? 3, () => microsPerGrant(most, GRANTS));
  return {
    name: 'address-clock',
    figures: {
      [`microsPerGrant of ${few} names`]: round(small),
      [`microsPerGrant of ${most} names`]: round(large),
      growth: round(large / small),
    },
  };
};

function least(rounds: number, take: () => number): number {
  return Math.min(...Array.from({ length: rounds }, take));
}

function microsPerGrant(names: number, grants: number): number {
  const stage = staged();
  for (let name = 0; name < names; name++) stage.tell(ask(`${name}.example`));
  let fromMs = 0;
  for (let grant = -1; grant < grants; grant++) {
    if (grant === 0) fromMs = performance.now();
    serve(stage, onlyPermit(stage.take()));
  }
  return ((performance.now() - fromMs) * 1_000) / grants;
}

function staged() {
  return new Stage(workbench, props(), 0, drawsFrom(1));
}

/** Ended, judged, asked for again; then the address opens. */
function serve(stage: ReturnType<typeof staged>, { number, host, fetcher }: Permit): void {
  stage.tell({ type: 'ended', permit: number, host, tier: 1, slot: fetcher, bytes: 0, backend: null });
  stage.tell({ type: 'closed', visits: [number] });
  stage.tell({ ...ask(host), verdict: { permit: number, closedForMs: 50 } });
  stage.pass(ADDRESS_DELAY_MS);
}

function ask(host: string): Extract<Message, { type: 'settle' }> {
  const address = { address: '192.0.2.1', family: 4 } as const;
  const wish = {
    host,
    address,
    addressClock: '192.0.2.1',
    tier: 1,
    priority: 2,
    delivery: 'first',
    delayMs: 1_000,
  } as const;
  return { type: 'settle', network: null, host, verdict: null, ask: wish };
}

function onlyPermit(effects: readonly Effect[]): Permit {
  const permits = effects.flatMap((effect) =>
    effect.do === 'send' && effect.message.type === 'granted'
      ? [(effect.message as unknown as { readonly permit: Permit }).permit]
      : [],
  );
  if (permits.length !== 1) throw new Error(`${permits.length} permits of one address at once`);
  return permits[0] as Permit;
}

function props(): Props {
  const { config } = loadConfig({ cores: 2, assignments: [] });
  return {
    tiers: { 1: { slots: 256, requestMsMax: 20_000 } },
    openVisitsMax: 256,
    openBytesMax: 1e9,
    addressDelayMs: ADDRESS_DELAY_MS,
    egress: null,
    backend: null,
    retryBudget: null,
    resumed: false,
    rules: rulesOf(configuredRules(config), NO_SETTINGS),
  };
}
