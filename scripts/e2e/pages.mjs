/**
 * `npm run e2e:pages`: every page of three documentation packages, read by the token reader and held against a full tree:
 * links with their element and relation, forms, text, title, base, canonical, robots directives. Prints each difference,
 * and exits with 1 where there is one. Names of packages as arguments choose.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

/** Fewer pages prove little. */
const PAGES_MIN = 2_000;

const { module } = await runnerImport(fileURLToPath(new URL('../../test/e2e/pages.ts', import.meta.url)));
const { comparePackage, installed, PACKAGES } = module;

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(PACKAGES, name));
const names = chosen.length > 0 ? chosen : installed();
const missing = (chosen.length > 0 ? chosen : Object.keys(PACKAGES)).filter((name) => !installed().includes(name));
if (unknown.length > 0 || missing.length > 0) {
  console.error(`not installed: apt-get install ${missing.join(' ')}`);
  process.exit(1);
}

const reports = names.map((name) => {
  const { differences, ...figures } = comparePackage(name, null);
  for (const difference of differences) console.log(difference);
  console.log(name, { ...figures, differences: differences.length });
  return { ...figures, differences: differences.length };
});

const total = { packages: names.length };
for (const report of reports) for (const [key, value] of Object.entries(report)) total[key] = (total[key] ?? 0) + value;
console.log('all', total);
const isEnough = chosen.length > 0 || total.pages >= PAGES_MIN;
if (!isEnough) console.error(`fewer than ${PAGES_MIN} pages`);
process.exitCode = total.differences === 0 && isEnough ? 0 : 1;
