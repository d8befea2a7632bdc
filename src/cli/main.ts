#!/usr/bin/env node
/** The program: words in, exit code out. */
import { COMMANDS } from './commands.js';
import { run } from './run.js';
import { EXIT, type ExitCode, processTerminal } from './terminal.js';

// Output is lost at any moment, also after the command has ended: a result that nobody got is no success.
let least: ExitCode = EXIT.done;
const terminal = processTerminal(() => {
  least = EXIT.failed;
  process.exitCode ||= least;
});
const exit = await run(process.argv.slice(2), terminal, COMMANDS);
process.exitCode = exit || least;
