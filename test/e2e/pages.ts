/**
 * Whole documentation packages, page by page: what the token reader sees, held against a full tree of the same page.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareWithTree } from '../page/against-tree.js';

/** Where each package has its pages. */
export const PACKAGES: Readonly<Record<string, string>> = {
  'debian-handbook': '/usr/share/doc/debian-handbook/html',
  'python3.11-doc': '/usr/share/doc/python3.11/html',
  'postgresql-doc-15': '/usr/share/doc/postgresql-doc-15/html',
};

export interface PagesReport {
  readonly pages: number;
  readonly bytes: number;
  readonly links: number;
  readonly forms: number;
  readonly textLength: number;
  /** One line each, with the page's path. */
  readonly differences: readonly string[];
}

export function installed(): string[] {
  return Object.keys(PACKAGES).filter((name) => existsSync(PACKAGES[name] as string));
}

/** @param pagesMax taken evenly from the whole package; null: all of it. */
export function comparePackage(name: string, pagesMax: number | null): PagesReport {
  const folder = PACKAGES[name] as string;
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .sort();
  const step = pagesMax === null ? 1 : Math.max(1, Math.floor(paths.length / pagesMax));
  const chosen = paths.filter((_, i) => i % step === 0).slice(0, pagesMax ?? paths.length);
  let bytes = 0;
  let links = 0;
  let forms = 0;
  let textLength = 0;
  const differences: string[] = [];
  for (const path of chosen) {
    const source = readFileSync(join(folder, path), 'utf8');
    const comparison = compareWithTree(source);
    bytes += Buffer.byteLength(source);
    links += comparison.links;
    forms += comparison.forms;
    textLength += comparison.textLength;
    differences.push(...comparison.differences.map((difference) => `${name}/${path}: ${difference}`));
  }
  return { pages: chosen.length, bytes, links, forms, textLength, differences };
}
