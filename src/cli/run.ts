/**
 * The frame around commands: finds the one that is meant, runs it, and turns every end into an exit code and, where
 * something went wrong, three lines: what, where, what to do.
 */
import { withoutCredentials } from '../domain/credentials.js';
import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/error.js';
import { StoreError } from '../protocols/ports.js';
import { commandLine } from './program.js';
import { CommandError, type CommandFactory, EXIT, type ExitCode, type Terminal } from './terminal.js';

/** Never rejects. `words` are the arguments after the program's name. */
export async function run(
  words: readonly string[],
  terminal: Terminal,
  factories: readonly CommandFactory[],
): Promise<ExitCode> {
  let exit: ExitCode = EXIT.done;
  const ended = (code: ExitCode) => {
    exit = code;
  };
  const program = new Command('orbweaver')
    .description('A polite, unattended web crawler.')
    .version(version(), '--version', 'print the version')
    .showSuggestionAfterError();
  const commands = factories.map((factory) => factory(terminal, ended));
  for (const command of [program, ...commands]) frame(command, terminal);
  for (const command of commands) program.addCommand(command);
  program.helpCommand('help [command]', 'show the help of a command');
  try {
    refuseUnknownHelp(words, commands);
    await program.parseAsync([...words], { from: 'user' });
    return exit;
  } catch (error) {
    return explain(error, words, terminal);
  }
}

/** Commander throws instead of ending the process, and writes where we do. */
function frame(command: Command, terminal: Terminal): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.print(text.replace(/\n$/, '')),
    writeErr: (text) => terminal.note(text.replace(/\n$/, '')),
    outputError: () => {}, // `explain` tells it
  });
}

/** Commander would show the program's own help. */
function refuseUnknownHelp([first, name]: readonly string[], commands: readonly Command[]): void {
  if (first !== 'help' || name === undefined || name.startsWith('-') || name === 'help') return;
  if (commands.some((command) => command.name() === name)) return;
  throw new CommandError(
    'usage',
    `unknown command '${name}'`,
    EXIT.usage,
    null,
    `\`${commandLine('--help')}\` lists them`,
  );
}

function explain(error: unknown, words: readonly string[], terminal: Terminal): ExitCode {
  if (error instanceof CommanderError) return explainUsage(error, words, terminal);
  if (error instanceof ConfigError) {
    const advice = `\`${commandLine('config')}\` lists every option, its value and where that comes from`;
    return tell(terminal, EXIT.usage, error.code, error.message, error.where, advice);
  }
  if (error instanceof StoreError) {
    return tell(terminal, EXIT.failed, error.code, error.message, error.where, error.advice);
  }
  if (error instanceof CommandError) {
    return tell(terminal, error.exit, error.code, error.message, error.where, error.advice);
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return tell(terminal, EXIT.failed, 'internal', trace, null, 'this is a fault of the program: please report it');
}

/** Help and version have printed themselves, and a call without any command its help: that is a wrong one. */
function explainUsage(error: CommanderError, words: readonly string[], terminal: Terminal): ExitCode {
  if (error.exitCode === 0) return EXIT.done;
  if (error.code === 'commander.help') return EXIT.usage;
  const [what = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const [first = ''] = words;
  const isCommand = error.code !== 'commander.unknownCommand' && /^[a-z]+$/.test(first);
  const help = `\`${commandLine(`${isCommand ? `${first} ` : ''}--help`)}\` shows what there is`;
  return tell(
    terminal,
    EXIT.usage,
    'usage',
    what,
    null,
    suggestion?.replace(/^\((.*)\)$/, '$1') ?? urlMeant(error, first) ?? help,
  );
}

/** `orbweaver example.org`. */
function urlMeant({ code }: CommanderError, word: string): string | null {
  if (code !== 'commander.unknownCommand' || !/[.:/]/.test(word)) return null;
  return `did you mean \`${commandLine('crawl')} ${/^[a-z]+:\/\//i.test(word) ? word : `http://${word}/`}\`?`;
}

function tell(
  terminal: Terminal,
  exit: ExitCode,
  code: string,
  what: string,
  where: string | null,
  advice: string | null,
): ExitCode {
  // What was typed may hold a password, and whoever typed it knows it.
  terminal.note(`orbweaver: ${withoutCredentials(what)} [${code}]`);
  if (where !== null) terminal.note(`  at: ${withoutCredentials(where)}`);
  if (advice !== null) terminal.note(`  do: ${advice}`);
  return exit;
}

function version(): string {
  return (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
}
