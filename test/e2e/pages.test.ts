/** A sample of what `npm run e2e:pages` asks of whole packages. */
import { describe, expect, it } from 'vitest';
import { comparePackage, installed, PACKAGES } from './pages.js';

const there = installed();

describe('the token reader sees what a tree sees (HTML Standard §13.2)', () => {
  for (const name of Object.keys(PACKAGES)) {
    it.skipIf(!there.includes(name))(
      `in links, forms, text and what a page says of itself: ${name}`,
      () => {
        const { pages, links, textLength, differences } = comparePackage(name, 40);
        expect(differences).toEqual([]);
        expect(pages).toBe(40);
        expect(links).toBeGreaterThan(400);
        expect(textLength).toBeGreaterThan(40_000);
      },
      60_000,
    );
  }
});
