/** Every command of the program, in the order in which help shows them. A new command is a file and a line here. */
import { canonicalCommand } from './canonical.js';
import { configCommand } from './config.js';
import { crawlCommand } from './crawl.js';
import { daemonCommand } from './daemon.js';
import { deadCommand } from './dead.js';
import { excludeCommand } from './exclude.js';
import { hostCommand, hostsCommand } from './hosts.js';
import { redriveCommand } from './redrive.js';
import { robotsCommand } from './robots.js';
import { judgeCommand } from './judge.js';
import { inspectCommand } from './inspect.js';
import { pauseCommand, resumeCommand } from './pause.js';
import { practiceCommand } from './practice.js';
import { sidecarCommand } from './sidecar.js';
import { seedCommand } from './seed.js';
import { simCommand } from './sim.js';
import { statusCommand } from './status.js';
import type { CommandFactory } from './terminal.js';
import { treeCommand } from './tree.js';
import { whyCommand } from './why.js';

export const COMMANDS: readonly CommandFactory[] = [
  crawlCommand,
  daemonCommand,
  statusCommand,
  hostsCommand,
  hostCommand,
  deadCommand,
  redriveCommand,
  seedCommand,
  pauseCommand,
  resumeCommand,
  excludeCommand,
  practiceCommand,
  judgeCommand,
  sidecarCommand,
  whyCommand,
  treeCommand,
  simCommand,
  canonicalCommand,
  robotsCommand,
  inspectCommand,
  configCommand,
];
