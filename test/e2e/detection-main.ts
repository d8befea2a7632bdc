/**
 * `npm run e2e:detection`: the detection of doors and script shells on a corpus of made pages and on every page of the
 * documentation packages that are installed. Exits with 1 under the recall, or above the false positives, that are
 * promised. `-- --without-held-out` leaves out the third of the made pages that nothing may be tuned by.
 */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { configSchema } from '../../src/config/schema.js';
import type { ChallengeFinding, ChallengeKind } from '../../src/domain/parsing.js';
import { type PageReading, readPage } from '../../src/page/reading.js';
import { MARKERS } from '../../src/policy/challenge-markers.js';
import { madePages, undecidedPages, unseenPages } from '../corpus/corpus.js';
import type { MadePage } from '../corpus/made-page.js';

const RECALL_MIN = 0.98;
const FALSE_POSITIVES_MAX = 0.005;
const DOCUMENTATION = '/usr/share/doc';
/** Pages of fewer are no documentation but a page about a package. */
const PACKAGE_PAGES_MIN = 20;
const LISTED = 25;

const { challenge: TERMS } = configSchema.parse({});
const isWhole = !process.argv.includes('--without-held-out');
let isFailed = false;

madeFigures(
  'made pages, tuned by',
  madePages().filter(({ isHeldOut }) => !isHeldOut),
);
if (isWhole) {
  madeFigures(
    'made pages, held out',
    madePages().filter(({ isHeldOut }) => isHeldOut),
  );
  withoutMarkers();
  const wasFailed = isFailed;
  madeFigures('kinds that nothing was tuned by (told, not promised)', unseenPages());
  isFailed = wasFailed;
}
undecided();
realFigures();
process.exitCode = isFailed ? 1 : 0;

function foundIn(bytes: Uint8Array, page: Pick<MadePage, 'status' | 'headers'>): ChallengeFinding | null {
  return read(bytes, page).challenge;
}

function read(bytes: Uint8Array, page: Pick<MadePage, 'status' | 'headers'>): PageReading {
  const asked = { url: 'http://site.example/page', forms: false, productToken: 'ExampleBot', challenge: TERMS };
  return readPage({ ...asked, status: page.status, headers: page.headers }, bytes);
}

// -- made pages -------------------------------------------------------------------------------------------------

interface Judged {
  readonly page: MadePage;
  readonly finding: ChallengeFinding | null;
}

function madeFigures(label: string, pages: readonly MadePage[]): void {
  const judged = pages.map((page): Judged => ({ page, finding: foundIn(Buffer.from(page.html), page) }));
  console.log(`\n== ${label}: ${judged.length}, ${share(judged.filter(isBorderline), judged)} borderline`);
  for (const truth of ['challenge', 'script_shell'] as const) recallOf(truth, judged);
  honestOf(judged);
}

function isBorderline({ page }: Judged): boolean {
  return page.isBorderline;
}

function recallOf(truth: ChallengeKind, judged: readonly Judged[]): void {
  const those = judged.filter(({ page }) => page.truth === truth);
  const found = those.filter(({ finding }) => finding !== null);
  const exact = those.filter(({ finding }) => finding?.kind === truth);
  check(found.length >= RECALL_MIN * those.length);
  console.log(`${truth}: recall ${share(found, those)}, by its own kind ${share(exact, those)}`);
  table(those, ({ finding }) => finding !== null);
  list(
    'missed',
    those.filter(({ finding }) => finding === null),
  );
  list(
    'of the other kind',
    found.filter(({ finding }) => finding?.kind !== truth),
  );
}

function honestOf(judged: readonly Judged[]): void {
  const honest = judged.filter(({ page }) => page.truth === null);
  const wrong = honest.filter(({ finding }) => finding !== null);
  check(wrong.length <= FALSE_POSITIVES_MAX * honest.length);
  console.log(`honest: false positives ${share(wrong, honest)}`);
  table(honest, ({ finding }) => finding === null);
  list('condemned', wrong);
}

/** Of each maker how many were judged rightly. */
function table(judged: readonly Judged[], isRight: (one: Judged) => boolean): void {
  const makers = new Map<string, { right: number; all: number }>();
  for (const one of judged) {
    const maker = one.page.name.split('#')[0] as string;
    const row = makers.get(maker) ?? { right: 0, all: 0 };
    makers.set(maker, { right: row.right + (isRight(one) ? 1 : 0), all: row.all + 1 });
  }
  console.log(`  ${[...makers].map(([maker, { right, all }]) => `${maker} ${right}/${all}`).join(', ')}`);
}

function list(what: string, judged: readonly Judged[]): void {
  for (const { page, finding } of judged.slice(0, LISTED)) {
    console.log(
      `  ${what}: ${page.name} ${page.status} ${finding === null ? '' : `${finding.kind}: ${finding.reasons.join('; ')}`}`,
    );
  }
  if (judged.length > LISTED) console.log(`  ${what}: and ${judged.length - LISTED} more`);
}

/** Doors of makers that nobody has heard of: the same ones without headers and without any marker, words and shape left. */
function withoutMarkers(): void {
  const texts = MARKERS.map(({ text }) =>
    text
      .split(/(?<=[=(])|(?=[=(])/)
      .map(escaped)
      .join('\\s*'),
  );
  const pattern = new RegExp(texts.join('|'), 'gi');
  const judged = madePages()
    .filter(({ truth }) => truth === 'challenge')
    .map((page): Judged => {
      const html = page.html.replace(pattern, 'unknown');
      return { page, finding: foundIn(Buffer.from(html), { status: page.status, headers: page.headers.slice(0, 1) }) };
    });
  console.log('\n== the same doors without any known marker or header, by words and shape alone (told, not promised)');
  console.log(
    `challenge: recall ${share(
      judged.filter(({ finding }) => finding !== null),
      judged,
    )}`,
  );
  table(judged, ({ finding }) => finding !== null);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function undecided(): void {
  console.log('\n== pages that may be called by either name, and what they are called');
  for (const page of undecidedPages()) {
    const finding = foundIn(Buffer.from(page.html), page);
    console.log(`  ${page.name}: ${finding === null ? 'a page' : `${finding.kind}: ${finding.reasons.join('; ')}`}`);
  }
}

// -- real pages -------------------------------------------------------------------------------------------------

function realFigures(): void {
  const packages = documentationPages();
  console.log('\n== pages of documentation packages');
  let all = 0;
  let thin = 0;
  const wrong: string[] = [];
  for (const [name, paths] of packages) {
    const condemned = paths.flatMap((path) => {
      const page = read(readFileSync(path), { status: 200, headers: [['Content-Type', 'text/html']] });
      const { text, challenge: finding } = page;
      if (text.length < TERMS.densityTextCharacters) thin++;
      return finding === null ? [] : [`${path}: ${finding.kind}: ${finding.reasons.join('; ')}`];
    });
    all += paths.length;
    wrong.push(...condemned);
    console.log(`${name}: ${paths.length} pages, ${condemned.length} condemned`);
    for (const one of condemned.slice(0, LISTED)) console.log(`  ${one}`);
  }
  check(all > 0 && wrong.length <= FALSE_POSITIVES_MAX * all);
  console.log(
    `in all: ${all} pages, ${thin} of them with less than ${TERMS.densityTextCharacters} characters of text; false positives ${share(wrong, Array.from({ length: all }))}`,
  );
}

/** Every page once, though packages link to each other's. */
function documentationPages(): Map<string, string[]> {
  const seen = new Set<string>();
  const packages = new Map<string, string[]>();
  if (!existsSync(DOCUMENTATION)) return packages;
  for (const name of readdirSync(DOCUMENTATION).sort()) {
    const paths = pagesBelow(join(DOCUMENTATION, name)).filter((path) => !seen.has(path));
    if (paths.length < PACKAGE_PAGES_MIN) continue;
    for (const path of paths) seen.add(path);
    packages.set(name, paths);
  }
  return packages;
}

function pagesBelow(root: string, depth = 0): string[] {
  if (depth > 12) return [];
  try {
    return readdirSync(realpathSync(root), { withFileTypes: true }).flatMap((entry) => {
      const path = join(realpathSync(root), entry.name);
      if (/\.x?html?$/.test(entry.name)) return existsSync(path) ? [realpathSync(path)] : [];
      return entry.isDirectory() || entry.isSymbolicLink() ? pagesBelow(path, depth + 1) : [];
    });
  } catch {
    return [];
  }
}

// -- sums -------------------------------------------------------------------------------------------------------

function share(part: readonly unknown[], whole: readonly unknown[]): string {
  const percent = whole.length === 0 ? 0 : (100 * part.length) / whole.length;
  return `${part.length} of ${whole.length} (${percent.toFixed(2)} %)`;
}

function check(holds: boolean): void {
  if (!holds) isFailed = true;
}
