/** Pages of documentation packages of Debian, as they are installed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareWithTree } from './against-tree.js';

const ROOT = '/usr/share/doc';

export const PACKAGES = ['debian-handbook', 'python3.11-doc', 'postgresql-doc-15'] as const;

/** Names of packages that are not installed. */
export function missingPackages(names: readonly string[] = PACKAGES): string[] {
  return names.filter((name) => !existsSync(join(ROOT, name, 'html')));
}

/** Paths of all pages of a package, sorted; a part of them where `folder` names one. */
export function pagesOf(name: string, folder = 'html'): string[] {
  const root = join(ROOT, name, folder);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.html'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** About so many of them, evenly spread. */
export function sampleOf<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.floor(all.length / count));
  return all.filter((_, i) => i % step === 0).slice(0, count);
}

export interface Figures {
  readonly pages: number;
  readonly links: number;
  readonly forms: number;
  readonly characters: number;
  /** `path: what differs`. */
  readonly differences: readonly string[];
}

/** The token reader beside a tree on all of these pages. */
export function comparePages(paths: readonly string[]): Figures {
  let links = 0;
  let forms = 0;
  let characters = 0;
  const differences: string[] = [];
  for (const path of paths) {
    const compared = compareWithTree(readFileSync(path, 'utf8'));
    links += compared.links;
    forms += compared.forms;
    characters += compared.textLength;
    for (const difference of compared.differences) differences.push(`${path}: ${difference}`);
  }
  return { pages: paths.length, links, forms, characters, differences };
}
