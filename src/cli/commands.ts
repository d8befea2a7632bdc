/** Every command of the program, in the order in which help shows them. A new command is a file and a line here. */
import { canonicalCommand } from './canonical.js';
import { configCommand } from './config.js';
import { practiceCommand } from './practice.js';
import type { CommandFactory } from './terminal.js';

export const COMMANDS: readonly CommandFactory[] = [canonicalCommand, configCommand, practiceCommand];
