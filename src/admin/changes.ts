/**
 * Wishes that change a crawl's settings: what each means, whoever keeps the settings.
 *
 * Each is one change in one commit, and is answered after it. What is wished and is so already changes nothing.
 */
import type { CrawlSettings } from '../domain/crawl-settings.js';
import type { Redrive, RedriveWish } from '../domain/redrive.js';
import { isProblem, patternOf } from '../policy/url-pattern.js';
import type { RulesChange } from '../protocols/frontier.js';
import { ControlError, type ExcludeWish } from './control.js';
import type { Changes } from './desk.js';
import type { Redriven } from './redriving.js';
import { type Field, sowAll } from './seeds.js';

/** Who keeps the settings: a running crawl, or the store of one that has stopped. */
export interface Keeper extends Field {
  settings(): CrawlSettings;
  /** In one commit; resolves after it. */
  change(change: RulesChange): Promise<CrawlSettings>;
  /** Resolves when it is over; with a rate after its first commit. */
  redrive(wish: RedriveWish): Promise<Redriven>;
  /** Null where none of this number goes on. */
  cancelRedrive(number: number): Promise<Redrive | null>;
  /** What a crawl does that is not paused. */
  readonly otherwise: 'running' | 'stopped';
  /** Patterns of its configuration, which no command takes away. */
  readonly configuredExclusions: readonly string[];
}

export function changesBy(keeper: Keeper): Changes {
  const setPaused = async (paused: boolean) => {
    const changed = keeper.settings().paused !== paused;
    if (changed) await keeper.change({ paused });
    return { state: paused ? ('paused' as const) : keeper.otherwise, changed };
  };
  return {
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    seed: (wish) => sowAll(wish, keeper),
    exclude: (wish) => exclude(keeper, wish),
    redrive: (wish) => keeper.redrive(wish),
    cancelRedrive: (number) => keeper.cancelRedrive(number),
  };
}

async function exclude(keeper: Keeper, { patterns, remove }: ExcludeWish) {
  for (const text of patterns) {
    const pattern = patternOf(text);
    if (!isProblem(pattern)) continue;
    const advice = "as in /private/, *.example.org or 'regex:\\.zip$'";
    throw new ControlError('pattern_invalid', pattern.problem, 400, text, advice);
  }
  const before = keeper.settings().exclusions;
  const isNews = (text: string) => before.includes(text) === remove;
  const changed = patterns.some(isNews);
  const after = changed ? await keeper.change(remove ? { admit: patterns } : { exclude: patterns }) : keeper.settings();
  return { patterns: after.exclusions, configured: keeper.configuredExclusions, changed };
}
