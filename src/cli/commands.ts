/** Every command of the program, in the order in which help shows them. A new command is a file and a line here. */
import { configCommand } from './config.js';
import type { CommandFactory } from './terminal.js';

export const COMMANDS: readonly CommandFactory[] = [configCommand];
