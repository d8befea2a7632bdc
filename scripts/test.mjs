/**
 * Everything that must hold before a commit: types, build, lint, import arrows, tests. Ends with one line,
 * `N passed, N failed`, alone and last. A step that fails counts as one failure, so that a red run never says 0; a
 * failed build ends the run, since tests of a stale `dist` would prove nothing.
 *
 * Runs everything with the Node that runs it. Arguments are handed to vitest: `npm test -- test/policy`.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (path) => join(root, 'node_modules', path);
const tsc = bin('typescript/bin/tsc');

/** The steps before the tests: they share nothing, so they run side by side. */
const STEPS = [
  { name: 'build', args: [tsc, '-p', 'tsconfig.build.json'], fatal: true },
  { name: 'types', args: [tsc, '-p', 'tsconfig.json', '--noEmit'], fatal: false },
  {
    name: 'lint',
    args: [bin('@biomejs/biome/bin/biome'), 'lint', '--error-on-warnings', '--diagnostic-level=warn'],
    fatal: false,
  },
  {
    name: 'arrows',
    args: [bin('dependency-cruiser/bin/dependency-cruise.mjs'), '--config', '.dependency-cruiser.cjs', 'src'],
    fatal: false,
  },
];

/** Of a failed test's message: enough for the assertion and where it stands. */
const FAILURE_LINES_MAX = 25;

process.exitCode = await main(process.argv.slice(2));

async function main(vitestArguments) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const steps = await Promise.all(STEPS.map(runStep));
  const failedSteps = steps.filter((step) => !step.ok);
  if (failedSteps.some((step) => step.fatal)) return conclude({ passed: 0, failed: 0 }, failedSteps);
  return conclude(await runTests(vitestArguments), failedSteps);
}

function conclude(tests, failedSteps) {
  if (failedSteps.length > 0) console.log(`\nFailed steps: ${failedSteps.map((step) => step.name).join(', ')}`);
  for (const line of tests.failures ?? []) console.log(line);
  const failed = tests.failed + failedSteps.length;
  console.log(`${tests.passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function runStep(step) {
  const startedMs = performance.now();
  const { code, output } = await run(step.args, 'pipe');
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)`);
  if (code !== 0) console.log(output);
  return { ...step, ok: code === 0 };
}

async function runTests(vitestArguments) {
  const folder = mkdtempSync(join(tmpdir(), 'orbweaver-test-'));
  const report = join(folder, 'report.json');
  try {
    const { code } = await run(
      [
        bin('vitest/vitest.mjs'),
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...vitestArguments,
      ],
      'inherit',
    );
    return countTests(report, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A file that could not be loaded, and an error outside of every test, are failures too. */
function countTests(report, code) {
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const brokenFiles = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = numFailedTests + brokenFiles;
  const failures = testResults.flatMap(failuresOf);
  return { passed: numPassedTests, failed: code !== 0 && failed === 0 ? 1 : failed, failures };
}

/** Told once more at the end, where a reader of a cut log finds them: which tests, and what they said first. */
function failuresOf(file) {
  const failed = file.assertionResults.filter((test) => test.status === 'failed');
  if (failed.length === 0)
    return file.status === 'failed' ? [`FAILED ${shown(file.name)}`, indented(file.message)] : [];
  return failed.flatMap((test) => [
    `FAILED ${shown(file.name)}: ${test.fullName}`,
    ...test.failureMessages.map(indented),
  ]);
}

function shown(path) {
  return path.startsWith(root) ? path.slice(root.length) : path;
}

function indented(text) {
  return (text ?? '')
    .split('\n')
    .slice(0, FAILURE_LINES_MAX)
    .map((line) => `    ${line}`)
    .join('\n');
}

/** The exit code is 1 where a signal ended it. */
function run(args, stdio) {
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', stdio, stdio],
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
