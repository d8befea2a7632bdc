/**
 * `npm run e2e:charsets`: the translations of the Debian handbook in the old encodings of their countries, held against
 * their UTF-8 originals. Prints a line an encoding, each difference, and exits with 1 where there is one.
 */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('../../test/e2e/charsets.ts', import.meta.url)));
const { missingForCharsets, TRIALS, tryCharset } = module;

const missing = missingForCharsets();
if (missing !== null) {
  console.error(missing);
  process.exit(1);
}

const tallies = TRIALS.map((trial) => {
  const tally = tryCharset(trial, 200);
  const { pages, bytesBeyondAscii, differences, guessed } = tally;
  const guesses = guessed === null ? 'nothing to guess' : `${guessed} guessed right`;
  console.log(
    `${trial.charset} (${trial.language}): ${pages} pages, ${bytesBeyondAscii} bytes beyond ASCII, ${differences.length} differences, ${guesses}`,
  );
  for (const { page, declaredBy, what } of differences) console.log(`  ${page}, declared by ${declaredBy}: ${what}`);
  return tally;
});

const sum = (of) => tallies.reduce((total, tally) => total + of(tally), 0);
const differences = sum((tally) => tally.differences.length);
console.log({
  encodings: tallies.length,
  pages: sum((tally) => tally.pages),
  readings: 2 * sum((tally) => tally.pages),
  differences,
  guessedRight: sum((tally) => tally.guessed ?? 0),
  guesses: sum((tally) => (tally.guessed === null ? 0 : tally.pages)),
});
process.exitCode = differences === 0 && tallies.length >= 12 ? 0 : 1;
