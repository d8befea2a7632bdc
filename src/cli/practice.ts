/** `orbweaver practice`: serves the misbehaving practice web on loopback until it is interrupted. */
import { isIPv4 } from 'node:net';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { PracticeWeb, ProfileName, WebSettings } from '../practice/web.js';
import { unwritable } from './files.js';
import { quantity } from './progress.js';
import { withJsonOption, wholeNumber } from './options.js';
import { examples } from './program.js';
import { CommandError, EXIT, type ExitCode, printJson, type Terminal, untilInterrupted } from './terminal.js';

const PROFILES: readonly ProfileName[] = ['ordinary', 'faulty', 'demanding', 'walled', 'wide', 'deep', 'flat'];

/** A wide web has thousands. */
const SEEDS_SHOWN_MAX = 5;

interface PracticeOptions {
  readonly port: number;
  readonly address: string;
  readonly addresses: number;
  readonly seed: number;
  readonly profile: ProfileName;
  readonly log?: string;
  readonly hosts?: number;
  readonly pages?: number;
  readonly pageBytes?: number;
  readonly links?: number;
  readonly agent?: string;
  readonly crashing: boolean;
  readonly allowKills: boolean;
  readonly json: boolean;
}

export function practiceCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const command = new Command('practice')
    .description('serve the misbehaving practice web on loopback; the truth about it is at /__truth')
    .option('--port <port>', 'listen here; 0 takes a free port', wholeNumber(0, 65_535), 0)
    .option('--address <address>', 'the loopback address to listen on', loopbackAddress, '127.0.0.1')
    .option('--addresses <n>', 'listen on so many addresses in a row, from that one on', wholeNumber(1, 250), 1)
    .option('--seed <n>', 'which web of its kind', wholeNumber(0, 2 ** 32 - 1), 1)
    .addOption(new Option('--profile <name>', 'which kind of web').choices(PROFILES).default('ordinary'))
    .option('--hosts <n>', 'how many hosts', wholeNumber(1, 1_000_000))
    .option('--pages <n>', 'how many pages on all hosts together', wholeNumber(1, 100_000_000))
    .option('--page-bytes <n>', 'size of each page', wholeNumber(1, 16_777_216))
    .option('--links <n>', 'links on a page', wholeNumber(0, 10_000))
    .option('--agent <name>', 'the product token that robots.txt files speak to')
    .option('--log <file>', 'write down every request, for the checker of politeness')
    .option('--crashing', 'one page crashes whoever reads it, for crawls with planned faults', false)
    .option('--allow-kills', 'let POST /__arm kill processes, for tests of crashes', false);
  command.addHelpText('after', () =>
    examples(
      ['practice --port 8000 --profile faulty --log web.log', 'a small web that fails in many ways, and what it saw'],
      ['judge web.log --set politeness.delayMs=100', 'was the crawl of it polite?'],
    ),
  );
  return withJsonOption(command).action(async (options: PracticeOptions) => {
    const { startPracticeServer } = await import('../practice/server.js');
    const web = await webOf(options);
    const server = await startPracticeServer({
      web,
      port: options.port,
      host: options.address,
      addresses: options.addresses,
      allowKills: options.allowKills,
      ...(options.log === undefined ? {} : { logFile: options.log }),
    }).catch((error: unknown) => {
      throw notServed(error, options);
    });
    announce(web, options.address, server.port, options.json, terminal);
    await untilInterrupted();
    await server.close();
    ended(EXIT.interrupted);
  });
}

/** Rejects with CommandError for settings that exclude each other. */
async function webOf(options: PracticeOptions): Promise<PracticeWeb> {
  const { practiceWeb } = await import('../practice/web.js');
  const { seed, profile, hosts, pages, pageBytes, links, agent, crashing } = options;
  const settings: Partial<WebSettings> = {
    seed,
    profile,
    crashing,
    ...(hosts === undefined ? {} : { hosts }),
    ...(pages === undefined ? {} : { pages }),
    ...(pageBytes === undefined ? {} : { pageBytes }),
    ...(links === undefined ? {} : { linksPerPage: links }),
    ...(agent === undefined ? {} : { productToken: agent }),
  };
  try {
    return practiceWeb(settings);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandError('practice_settings', error.message, EXIT.usage, null, 'change --hosts, --pages or --links');
  }
}

function notServed(error: unknown, { port, address, log }: PracticeOptions): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const failed = (name: string, what: string, where: string) =>
    new CommandError(name, what, EXIT.failed, where, 'take another, or 0 for a free one', { cause: error });
  if (code === 'EADDRINUSE') return failed('port_taken', `port ${port} is taken`, '--port');
  if (code === 'EACCES' && syscall === 'listen') {
    return failed('port_forbidden', `this user may not listen on port ${port}`, '--port');
  }
  if (code === 'EADDRNOTAVAIL') {
    const advice = 'take an address that this machine has, as 127.0.0.1';
    return new CommandError('address_unavailable', `no interface has ${address}`, EXIT.failed, '--address', advice);
  }
  return log !== undefined && code !== undefined ? unwritable(error, `--log ${log}`) : error;
}

function announce(web: PracticeWeb, address: string, port: number, json: boolean, terminal: Terminal): void {
  const truth = `http://${address}:${port}/__truth`;
  const seeds = web.seeds.map(({ host, path }) => `http://${host.name}:${port}${path}`);
  const { hosts, pages, profile, seed } = web.settings;
  if (json) {
    printJson(terminal, { event: 'listening', port, hosts, pages, profile, seed, seeds, truth });
    return;
  }
  terminal.print(
    `Practice web (${profile}, seed ${seed}): ${quantity(hosts, 'host')}, ${quantity(pages, 'page')}, on port ${port}.`,
  );
  for (const url of seeds.slice(0, SEEDS_SHOWN_MAX)) terminal.print(`  seed   ${url}`);
  if (seeds.length > SEEDS_SHOWN_MAX)
    terminal.print(`         and ${seeds.length - SEEDS_SHOWN_MAX} more: --json lists them`);
  terminal.print(`  truth  ${truth}`);
  terminal.print(`  agent  --set userAgent='${web.settings.productToken}/1.0 (+https://bot.example/)'`);
  terminal.print(`  names  --set dns.hosts='{"*.practice.test":"${address}"}' --set guard.allow='["127.0.0.0/8"]'`);
}

/** A web that misbehaves on purpose is nobody's but this machine's. */
function loopbackAddress(text: string): string {
  if (isIPv4(text) && text.startsWith('127.')) return text;
  throw new InvalidArgumentError('it must be an address in 127.0.0.0/8');
}
