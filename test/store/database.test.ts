/** A database that has lost its way to its own tables is refused before LevelDB deletes them. */
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holdsCrawl } from '../../src/admin/stopped.js';
import { openStore } from '../../src/store/store.js';
import { admission, seedPart, warcinfo } from './parts.js';

const SEEDS = [seedPart([admission('http://a.test/', 1)])];

describe('a store without CURRENT', () => {
  let dir: string;
  const inStore = (name: string) => join(dir, 'store', name);
  const tables = async () => (await readdir(join(dir, 'store'))).filter((name) => name.endsWith('.ldb'));

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'orbweaver-current-'));
  });

  afterEach(async () => {
    await rm(dir, { recursive: true });
  });

  it('D5: is refused while it has tables, and keeps them: with the file put back all is there', async () => {
    const first = await openStore({ dir, warcinfo });
    await first.commit(1, SEEDS, true);
    await first.close();
    // LevelDB makes a table of its log when it is opened.
    await (await openStore({ dir, warcinfo })).close();
    const before = await tables();
    expect(before).not.toEqual([]);
    await rename(inStore('CURRENT'), join(dir, 'aside'));
    await expect(openStore({ dir, warcinfo })).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining('CURRENT'),
    });
    expect([await tables(), holdsCrawl(dir)]).toEqual([before, true]);
    await rename(join(dir, 'aside'), inStore('CURRENT'));
    const again = await openStore({ dir, warcinfo });
    expect((await again.loadHost('a.test', 5)).head.ready).toHaveLength(1);
    await again.close();
  });

  it('D5: a MANIFEST that is gone is damage, and not a disk that may come back', async () => {
    const store = await openStore({ dir, warcinfo });
    await store.commit(1, SEEDS, true);
    await store.close();
    for (const name of await readdir(join(dir, 'store'))) if (name.startsWith('MANIFEST')) await rm(inStore(name));
    await expect(openStore({ dir, warcinfo })).rejects.toMatchObject({ code: 'store_corrupt' });
  });

  it('D5: a folder in the place of a file is said to be one', async () => {
    await (await openStore({ dir, warcinfo })).close();
    await rm(inStore('LOCK'));
    await mkdir(inStore('LOCK'));
    await expect(openStore({ dir, warcinfo })).rejects.toMatchObject({ code: 'store_blocked' });
  });

  it('is begun where a first start was killed before it wrote one', async () => {
    await (await openStore({ dir, warcinfo })).close();
    await rm(join(dir, 'store'), { recursive: true });
    const store = await openStore({ dir, warcinfo });
    await store.close();
    for (const name of await readdir(join(dir, 'store'))) if (name !== 'LOCK') await rm(inStore(name));
    await writeFile(inStore('MANIFEST-000001'), '');
    const again = await openStore({ dir, warcinfo });
    expect(again.opened().totals.urls).toBe(0);
    await again.close();
  });
});
