/**
 * `npm run e2e:charsets`: pages of the handbook of Debian in the encodings of the past, declared by meta and by header,
 * must read as their originals. What is guessed of them without any declaration is told beside. Exits with 1 where a
 * declared one differs.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const load = async (name) =>
  (await runnerImport(fileURLToPath(new URL(`../../test/page/${name}`, import.meta.url)))).module;
const { compareLegacy, handbookPages, LEGACY_CHARSETS, writtenAgain } = await load('legacy-pages.ts');
const { missingPackages } = await load('real-pages.ts');

if (missingPackages(['debian-handbook']).length > 0) {
  console.error('missing: apt-get install debian-handbook');
  process.exit(1);
}

let pages = 0;
let differences = 0;
for (const charset of LEGACY_CHARSETS) {
  const paths = handbookPages(charset.language);
  const written = writtenAgain(paths, charset);
  if (written === null) {
    console.error('missing: python3, which writes the pages');
    process.exit(1);
  }
  const byMeta = compareLegacy(paths, written, charset, 'meta');
  const byHeader = compareLegacy(paths, written, charset, 'header');
  const byNothing = compareLegacy(paths, written, charset, 'nothing');
  const differing = [...byMeta.differences, ...byHeader.differences];
  const guessedWrong = new Set(
    // Another name for what reads alike (gb18030 for gbk) is no wrong guess.
    byNothing.differences
      .filter((line) => !line.includes(': read as '))
      .map((line) => line.slice(0, line.indexOf(': '))),
  );
  pages += paths.length;
  differences += differing.length;
  console.log(
    `${charset.label} (${charset.language}): ${paths.length} pages, ${byMeta.bytesBeyondAscii} bytes beyond ASCII, ` +
      `${differing.length} differences; undeclared: ${paths.length - guessedWrong.size} read alike`,
  );
  for (const difference of differing) console.log(`DIFFERENCE ${charset.label} ${difference}`);
}
console.log({ charsets: LEGACY_CHARSETS.length, pages, differences });
process.exitCode = differences === 0 && pages > 0 ? 0 : 1;
