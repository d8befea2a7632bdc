/**
 * `npm run e2e:pages`: what the token reader sees in every page of three documentation packages, held against a full
 * tree: links with element and relation, text, title, base, canonical, directives, scripts. Exits with 1 where they
 * differ.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('../../test/page/real-pages.ts', import.meta.url)));
const { comparePages, missingPackages, PACKAGES, pagesOf } = module;

const missing = missingPackages();
if (missing.length > 0) {
  console.error(`missing: apt-get install ${missing.join(' ')}`);
  process.exit(1);
}

let pages = 0;
let differences = 0;
for (const name of PACKAGES) {
  const figures = comparePages(pagesOf(name));
  pages += figures.pages;
  differences += figures.differences.length;
  console.log({ package: name, ...figures, differences: figures.differences.length });
  for (const difference of figures.differences) console.log(`DIFFERENCE ${difference}`);
}
console.log({ pages, differences });
process.exitCode = differences === 0 && pages >= 2_000 ? 0 : 1;
