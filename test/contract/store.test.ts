import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLevel } from 'memory-level';
import type { StorePort } from '../../src/protocols/ports.js';
import { MemoryFiles } from '../../src/sinks/memory-files.js';
import { type Database, levelDatabase } from '../../src/store/database.js';
import { openStore } from '../../src/store/store.js';
import { warcinfo } from '../store/parts.js';
import { type StoreGround, storeContract } from './store.contract.js';

storeContract('LevelDB and real files', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'orbweaver-store-'));
  const databases = new Map<StorePort, Database>();
  const ground: StoreGround = {
    async open(options) {
      let database: Database | null = null;
      const open = (path: string) => (database = levelDatabase(path));
      const store = await openStore({ dir, open, warcinfo, ...options });
      databases.set(store, database as unknown as Database);
      return store;
    },
    async raw(work) {
      const database = levelDatabase(join(dir, 'store'));
      await database.open();
      await work(database);
      await database.close();
    },
    async kill(store) {
      await databases.get(store)?.close();
    },
    async size(name) {
      return stat(join(dir, name)).then(
        (it) => it.size,
        () => null,
      );
    },
    bytes: (name) => readFile(join(dir, name)),
    async replace(name, bytes) {
      if (bytes === null) await rm(join(dir, name));
      else await writeFile(join(dir, name), bytes);
    },
    clean: () => rm(dir, { recursive: true, force: true }),
  };
  return ground;
});

storeContract('memory', async () => {
  const files = new MemoryFiles();
  const database = new MemoryLevel<Buffer, Buffer>({
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
  }) as unknown as Database;
  return {
    open: (options) => openStore({ dir: 'memory', open: () => database, fileSystem: files, warcinfo, ...options }),
    async raw(work) {
      await database.open();
      await work(database);
      await database.close();
    },
    kill: () => database.close(),
    size: (name) => files.size(name),
    bytes: async (name) => files.bytes(name),
    replace: async (name, bytes) => files.replace(name, bytes),
    clean: async () => {},
  };
});
