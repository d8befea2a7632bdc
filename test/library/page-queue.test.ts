import { describe, expect, it } from 'vitest';
import type { Page } from '../../src/library/page.js';
import { PageQueue } from '../../src/library/page-queue.js';

function queueOf(bounds: { pages: number; bytes: number }) {
  const told: string[] = [];
  const queue = new PageQueue(bounds, { hold: () => told.push('hold'), release: () => told.push('release') });
  return { queue, told };
}

const pageOf = (url: string, bytes = 0): Page => ({
  ...{ url, canonical: url, declaredCanonical: null, fetchedAt: '', status: 200, mime: null, charset: null },
  ...{ title: null, kind: null, noindex: null, headers: [], digest: '', simhash: null, outcome: 'fetched', warc: null },
  ...{ linkCount: 0, links: null, text: null, body: new Uint8Array(bytes), data: null },
});

const BIG = 1e9;

describe('pages that nobody has taken yet', () => {
  it('hold the crawl at n, not at n-1, and release it at half', async () => {
    const { queue, told } = queueOf({ pages: 4, bytes: BIG });
    for (const url of ['a', 'b', 'c']) queue.offer(pageOf(url));
    expect(told).toEqual([]);
    queue.offer(pageOf('d'));
    queue.offer(pageOf('e'));
    expect(told).toEqual(['hold']);
    for (const left of [4, 3]) {
      await queue.take();
      expect([queue.length, told]).toEqual([left, ['hold']]);
    }
    await queue.take();
    expect(told).toEqual(['hold', 'release']);
    for (const url of ['f', 'g']) queue.offer(pageOf(url));
    expect(told).toEqual(['hold', 'release', 'hold']);
  });

  it('hold it by their bytes', async () => {
    const { queue, told } = queueOf({ pages: 100, bytes: 10_000 });
    queue.offer(pageOf('a', 8_000));
    expect(told).toEqual([]);
    queue.offer(pageOf('b', 0));
    expect(told).toEqual(['hold']);
    await queue.take();
    expect(told).toEqual(['hold', 'release']);
  });

  it('go to one taker each, in order; those who waited are served first and hold nothing', async () => {
    const { queue, told } = queueOf({ pages: 1, bytes: BIG });
    const waiting = [queue.take(), queue.take()];
    for (const url of ['a', 'b']) queue.offer(pageOf(url));
    expect((await Promise.all(waiting)).map(({ value }) => value?.url)).toEqual(['a', 'b']);
    expect(told).toEqual([]);
  });

  it('can still be taken after the end, which then comes to everybody', async () => {
    const { queue } = queueOf({ pages: 9, bytes: BIG });
    queue.offer(pageOf('a'));
    queue.close(null);
    expect((await queue.take()).value?.url).toBe('a');
    expect(await Promise.all([queue.take(), queue.take()])).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
  });

  it('are followed by the failure of the crawl, which is told once', async () => {
    const { queue } = queueOf({ pages: 9, bytes: BIG });
    queue.offer(pageOf('a'));
    queue.close(new Error('the disk is gone'));
    await queue.take();
    await expect(queue.take()).rejects.toThrow('the disk is gone');
    expect(await queue.take()).toMatchObject({ done: true });
  });
});
