/**
 * `npm run e2e:archive`: a documentation package behind nginx, archived in files of 200 kB under twenty kills, asked
 * for again twice, and read by warcio after each step. A folder as an argument is taken instead. Exits with 1 where
 * anything is wrong.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const { module } = await runnerImport(fileURLToPath(new URL('../../test/e2e/archive-trial.ts', import.meta.url)));
const { archiveTrial, startDocumentation } = module;

const FOLDERS = ['/usr/share/doc/debian-handbook/html/en-US', '/usr/share/doc/python3.11/html'];
const folder = process.argv[2] ?? FOLDERS.find((it) => existsSync(it));
if (folder === undefined) {
  console.error(`none of ${FOLDERS.join(', ')} is there: apt-get install nginx-light debian-handbook`);
  process.exit(1);
}

const prefix = mkdtempSync(join(tmpdir(), 'orbweaver-documentation-'));
const site = await startDocumentation(folder, prefix);
try {
  const report = await archiveTrial({ site, kills: 20, visitsBetween: 8, fileBytesMax: 200_000 });
  const { faults, unmodified, touched, ...figures } = report;
  const told = ({ requests, fetched, unchanged, reason }) => ({ requests, fetched, unchanged, reason });
  console.log({ folder, ...figures, unmodified: told(unmodified), touched: told(touched), faults: faults.length });
  for (const fault of faults.slice(0, 50)) console.error(`FAULT ${fault}`);
  process.exitCode = faults.length === 0 && report.pages > 100 && report.files > 5 ? 0 : 1;
} finally {
  await site.stop();
  rmSync(prefix, { recursive: true, force: true });
}
