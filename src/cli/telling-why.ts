/** The answers of `orbweaver why`, from a data directory at rest. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openStore } from '../store/store.js';
import type { WhyAnswer } from '../why/answer.js';
import { explain } from '../why/explain.js';
import { gatherFacts, type WhySources } from '../why/gather.js';
import { judge, lastRun, termsOf } from '../why/last-run.js';
import { renderAnswer } from '../why/render.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

export interface WhyOptions {
  readonly data: string;
  readonly json: boolean;
}

/** Throws CommandError or StoreError. */
export async function tellWhy(urls: readonly string[], { data, json }: WhyOptions, terminal: Terminal): Promise<void> {
  const answers = await answersFrom(resolve(data), urls, data);
  answers.forEach((answer, index) => {
    if (json) printJson(terminal, answer);
    else for (const line of [...(index > 0 ? [''] : []), ...renderAnswer(answer)]) terminal.print(line);
  });
}

async function answersFrom(directory: string, urls: readonly string[], named: string): Promise<WhyAnswer[]> {
  if (!existsSync(join(directory, 'store'))) {
    const advice = 'name the data directory of a crawl, as in --data crawls/example';
    throw new CommandError('no_crawl', 'no crawl has been here', EXIT.failed, `--data ${named}`, advice);
  }
  const store = await openStore({ dir: directory, warcinfo: () => new Uint8Array() });
  try {
    const run = lastRun(await store.lastRun());
    const sources: WhySources = {
      store,
      nowMs: Date.now(),
      judge: run === null ? null : (made, depth) => judge(run, made, depth),
      termsOf: run === null ? null : (host) => termsOf(run.config, host),
      liveOf: null,
    };
    const answers: WhyAnswer[] = [];
    for (const url of urls) answers.push(explain(await gatherFacts(url, sources)));
    return answers;
  } finally {
    await store.close();
  }
}
