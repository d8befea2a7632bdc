#!/usr/bin/env node
/** The program: words in, exit code out. */
import { COMMANDS } from './commands.js';
import { run } from './run.js';
import { processTerminal } from './terminal.js';

process.exitCode = await run(process.argv.slice(2), processTerminal(), COMMANDS);
