import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notePath, openNote, takeNotes } from '../../src/page/in-hand.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orbweaver-notes-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe('the note of what is in hand', () => {
  it('tells what was begun and not ended, of each thread, once', () => {
    const [first, second, third] = [0, 1, 2].map((thread) => openNote(notePath(directory, thread)));
    first?.begin('http://a.test/a-long-address');
    first?.end();
    first?.begin('http://a.test/2');
    second?.begin('http://b.test/');
    third?.begin('http://c.test/');
    third?.end();
    for (const note of [first, second, third]) note?.close();
    expect(takeNotes(directory).sort()).toEqual(['http://a.test/2', 'http://b.test/']);
    expect(takeNotes(directory)).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is nothing in an empty directory, one that is not there, and beside other files', () => {
    writeFileSync(join(directory, 'pages.jsonl'), 'http://a.test/\n');
    mkdirSync(join(directory, 'parsing-3.note'));
    expect(takeNotes(directory)).toEqual([]);
    expect(takeNotes(join(directory, 'none'))).toEqual([]);
    expect(readdirSync(directory)).toEqual(['pages.jsonl', 'parsing-3.note']);
  });

  it('outlives a kill -9 of the process (D1)', () => {
    const module = fileURLToPath(new URL('../../dist/page/in-hand.js', import.meta.url));
    const script = `import(${JSON.stringify(module)}).then(({ openNote, notePath }) => {
      openNote(notePath(${JSON.stringify(directory)}, 0)).begin('http://a.test/deadly');
      process.kill(process.pid, 'SIGKILL');
    })`;
    expect(spawnSync(process.execPath, ['-e', script]).signal).toBe('SIGKILL');
    expect(takeNotes(directory)).toEqual(['http://a.test/deadly']);
  });
});
