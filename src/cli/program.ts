/** How this process was started: what hints must print for somebody to run the next command. */
import { relative } from 'node:path';

/** `orbweaver` where it was installed, `npm start --` and `node dist/cli/main.js` in a checkout. */
export function programName(
  script: string | undefined = process.argv[1],
  environment: NodeJS.ProcessEnv = process.env,
  folder: string = process.cwd(),
): string {
  if (script === undefined || !/[\\/]cli[\\/]main\.js$/.test(script)) return 'orbweaver';
  if (environment['npm_lifecycle_event'] === 'start') return 'npm start --';
  const near = relative(folder, script);
  return `node ${near.startsWith('..') ? script : near}`;
}

/** A command as somebody would type it here. */
export function commandLine(words: string): string {
  return `${programName()} ${words}`;
}

/** For the help of a command: examples, one a line, each with what it does. */
export function examples(...lines: readonly (readonly [words: string, does: string])[]): string {
  const shown = lines.map(([words, does]) => [commandLine(words), does] as const);
  const width = Math.max(...shown.map(([line]) => line.length));
  const isWide = width > 60;
  return [
    '',
    'Examples:',
    ...shown.map(([line, does]) => (isWide ? `  ${line}\n      ${does}` : `  ${line.padEnd(width)}  ${does}`)),
  ].join('\n');
}
