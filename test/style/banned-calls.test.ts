import { describe, expect, it } from 'vitest';
import { findBannedCalls } from './banned-calls.js';
import { parseFile, parseText, sourcePaths } from './source.js';

describe('calls that escape simulated time or seeded chance', () => {
  it('stand in no file outside the adapters', () => {
    expect(sourcePaths('src').flatMap((path) => findBannedCalls(parseFile(path)))).toEqual([]);
  });

  it.each([
    ["import { setTimeout } from 'node:timers';", 'imports node:timers'],
    ["import { setTimeout as sleep } from 'node:timers/promises';", 'imports node:timers/promises'],
    ["export * from 'timers';", 'imports timers'],
    ["const timers = await import('node:timers');", 'imports node:timers'],
    ["import { performance } from 'node:perf_hooks';", 'imports node:perf_hooks'],
    ["import { randomBytes as bytes } from 'node:crypto';", 'imports randomBytes'],
    ['const signal = AbortSignal.timeout(5);', 'AbortSignal.timeout'],
    ['const { port1 } = new MessageChannel();', 'MessageChannel'],
    ['const channel = new globalThis.MessageChannel();', 'MessageChannel'],
    ['const now = Date.now();', 'Date.now'],
    ['const now = globalThis.Date.now;', 'Date.now'],
    ['const now = new Date().toISOString();', 'new Date()'],
    ['const now = performance.now();', 'performance.now'],
    ['const now = process.hrtime.bigint();', 'process.hrtime'],
    ['const draw = Math.random();', 'Math.random'],
    ['const id = crypto.randomUUID();', 'crypto.randomUUID'],
    ['const id = globalThis.crypto.getRandomValues(bytes);', 'crypto.getRandomValues'],
  ])('are seen: %s', (text, what) => {
    const findings = findBannedCalls(parseText('src/supervision/planted.ts', text));
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatch(/^src\/supervision\/planted\.ts:1 /);
    expect(findings[0]).toContain(`${what}: use `);
  });

  it.each([
    'const later = new Date(wallMs);',
    '// Date.now() in a comment',
    "const text = 'Math.random()';",
    'const when = now.date.nowMs;',
    'type Draws = { random: () => number };',
    "import { createHash } from 'node:crypto';",
  ])('are not seen in: %s', (text) => {
    expect(findBannedCalls(parseText('src/supervision/planted.ts', text))).toEqual([]);
  });

  it.each(['setTimeout(go, 5);', 'setInterval(go, 5);', 'setImmediate(go);', 'queueMicrotask(go);'])(
    'include timers where nothing is performed: %s',
    (text) => {
      for (const layer of ['domain', 'policy', 'protocols', 'actors']) {
        expect(findBannedCalls(parseText(`src/${layer}/planted.ts`, text))).toHaveLength(1);
      }
      expect(findBannedCalls(parseText('src/supervision/planted.ts', text))).toEqual([]);
    },
  );

  it('are allowed in adapters and in the clock of the kernel, and nowhere by a like name', () => {
    const found = (path: string) => findBannedCalls(parseText(path, 'Date.now();')).length;
    const allowed = [
      'src/net/dns.ts',
      'src/store/level.ts',
      'src/cli/main.ts',
      'src/main.ts',
      'src/supervision/clock.ts',
    ];
    expect(allowed.map(found)).toEqual(allowed.map(() => 0));
    const refused = ['src/network/dns.ts', 'src/actors/net/x.ts', 'src/actors/main.ts', 'src/supervision/tree.ts'];
    expect(refused.map(found)).toEqual(refused.map(() => 1));
  });
});
