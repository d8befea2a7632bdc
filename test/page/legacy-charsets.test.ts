import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { compareLegacy, handbookPages, LEGACY_CHARSETS, writtenAgain } from './legacy-pages.js';
import { missingPackages, sampleOf } from './real-pages.js';

const cannot = missingPackages(['debian-handbook']).length > 0 || spawnSync('python3', ['-V']).error !== undefined;

describe.skipIf(cannot)('a page in an old encoding reads as its original (HTML Standard §13.2.3.2)', () => {
  it.each(LEGACY_CHARSETS)('$label', (charset) => {
    const paths = sampleOf(handbookPages(charset.language), 4);
    const written = writtenAgain(paths, charset) ?? [];
    expect(written).toHaveLength(4);
    for (const declaration of ['meta', 'header'] as const) {
      expect(compareLegacy(paths, written, charset, declaration).differences).toEqual([]);
    }
  });
});
