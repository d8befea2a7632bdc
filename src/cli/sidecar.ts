/** `orbweaver sidecar`: serves the browser tier with a Chromium of this machine, speaking the FlareSolverr v1 protocol. */
import { Command } from 'commander';
import type { Config } from '../config/schema.js';
import type { VisitTerms } from '../sidecar/visit.js';
import { readConfig } from './configuration.js';
import {
  type ConfigOptions,
  type LogOptions,
  wholeNumber,
  withConfigOptions,
  withJsonOption,
  withLogOptions,
} from './options.js';
import { tokenIn, TOKEN_VARIABLE } from '../sidecar/token.js';
import { requiredProductToken } from './product-token.js';
import { examples } from './program.js';
import { CommandError, EXIT, type ExitCode, printJson, type Terminal, untilInterrupted } from './terminal.js';

interface SidecarOptions extends ConfigOptions, LogOptions {
  readonly port: number;
  readonly host: string;
  readonly chromium?: string;
  readonly userAgent?: string;
  readonly from?: string;
  readonly memory: number;
  readonly json: boolean;
}

const TOKEN_CHARACTERS_MIN = 16;
const SUB_REQUESTS_MAX = 30;
const MEMORY_MIB = 1_500;
/** What is being rendered when it is told to end has so long to come to its end. */
const DRAIN_MS_MAX = 10_000;
const VERSION = '0.1.0';
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

export function sidecarCommand(terminal: Terminal, ended: (exit: ExitCode) => void): Command {
  const command = new Command('sidecar')
    .description('serve the browser tier with a Chromium of this machine (FlareSolverr v1 protocol)')
    .option('--port <port>', 'listen here; 0 takes a free port', wholeNumber(0, 65_535), 8_191)
    .option('--host <address>', `listen on this address; any but loopback needs ${TOKEN_VARIABLE}`, '127.0.0.1')
    .option('--chromium <path>', 'the browser; without it, where distributions put it')
    .option('--user-agent <text>', "sent instead of the browser's own")
    .option('--from <address>', 'sent as From: with every request, so that sites can reach you')
    .option(
      '--memory <MiB>',
      'a browser that holds more is replaced, a page with half of it is ended',
      wholeNumber(256, 1_048_576),
      MEMORY_MIB,
    )
    .addHelpText('after', () =>
      examples(
        ['sidecar', 'then: crawl … --set browser.endpoint=http://127.0.0.1:8191/v1'],
        ['sidecar --port 8200 --from crawl@example.org --set browser.concurrency=4', 'four pages at once'],
      ),
    );
  return withJsonOption(withLogOptions(withConfigOptions(command), 'info')).action(async (options: SidecarOptions) => {
    const { config } = readConfig(options);
    const token = tokenFor(options);
    const { findChromium } = await import('../sidecar/chromium.js');
    const executable = findChromium(options.chromium);
    if (executable === null) throw noChromium(options.chromium);
    await serve(config, { ...options, executable, token }, terminal);
    ended(EXIT.interrupted);
  });
}

/** Until it is interrupted. */
async function serve(
  config: Config,
  options: SidecarOptions & { readonly executable: string; readonly token: string | null },
  terminal: Terminal,
): Promise<void> {
  const { host, port, token, executable } = options;
  const { openLog } = await import('../logs.js');
  const log = openLog({ level: options.logLevel, file: options.log ?? null });
  const service = await serviceFor(config, options, executable, (event, fields) => log.log('info', event, fields));
  // Of the browser's driver, about pages that are gone: none of it may end the service.
  process.on('unhandledRejection', (error) => log.log('error', 'unhandled', { reason: String(error).slice(0, 500) }));
  const { openSidecarServer } = await import('../sidecar/server.js');
  const server = await openSidecarServer({ service, host, port, token, version: VERSION }).catch((error: unknown) => {
    throw notServed(error, options);
  });
  const endpoint = `http://${host.includes(':') ? `[${host}]` : host}:${server.port}/v1`;
  if (options.json) printJson(terminal, { event: 'listening', endpoint, chromium: executable });
  else {
    terminal.print(`Browser service at ${endpoint}, with ${executable}.`);
    terminal.print(`  crawl …  --set browser.endpoint=${endpoint}`);
  }
  await untilInterrupted();
  server.stopListening();
  await Promise.race([service.drain(DRAIN_MS_MAX), untilInterrupted()]);
  await server.close();
  await service.close();
}

async function serviceFor(
  config: Config,
  options: SidecarOptions,
  executable: string,
  log: (event: string, fields: Readonly<Record<string, string | number | boolean | null>>) => void,
) {
  const { BrowserService } = await import('../sidecar/service.js');
  const { createResolver } = await import('../net/dns.js');
  const { guardRules } = await import('../net/guard.js');
  const { secureContextOf } = await import('../net/connect.js');
  const guard = guardRules(config.guard.allow);
  const clock = { monotonicMs: () => performance.now() };
  const servers = config.dns.servers.length === 0 ? {} : { servers: config.dns.servers };
  return new BrowserService({
    executable,
    trust: { guard, secureContext: secureContextOf(undefined) },
    names: createResolver({ guard, clock, hosts: config.dns.hosts, ...servers }),
    concurrency: config.browser.concurrency,
    userAgent: options.userAgent ?? null,
    from: options.from ?? null,
    subRequestsMax: SUB_REQUESTS_MAX,
    memoryBytesMax: options.memory * 2 ** 20,
    isDoor: await doorsBy(config),
    log,
  });
}

/** By the same look at a page that a crawl has. */
async function doorsBy(config: Config): Promise<VisitTerms['isDoor']> {
  const { readPage } = await import('../page/reading.js');
  const productToken = requiredProductToken(config);
  return (url, status, markup) => {
    const headers = [['content-type', 'text/html; charset=utf-8']] as const;
    const asked = { url, status, headers, forms: false, productToken, challenge: config.challenge };
    return readPage(asked, Buffer.from(markup)).challenge?.kind === 'challenge';
  };
}

/** Null: none is asked for. */
function tokenFor({ host }: SidecarOptions): string | null {
  const token = tokenIn(process.env);
  if (token !== null && token.length < TOKEN_CHARACTERS_MIN) {
    const message = `the token has fewer than ${TOKEN_CHARACTERS_MIN} characters`;
    throw new CommandError('token_short', message, EXIT.usage, TOKEN_VARIABLE, 'as of `openssl rand -hex 16`');
  }
  if (token === null && !LOOPBACK.test(host)) {
    const message = 'whoever reaches this address could browse through this machine';
    const advice = `set ${TOKEN_VARIABLE}, or listen on 127.0.0.1`;
    throw new CommandError('token_missing', message, EXIT.usage, `--host ${host}`, advice);
  }
  return token;
}

function noChromium(given: string | undefined): CommandError {
  const message = given === undefined ? 'no Chromium was found where one usually is' : 'there is no such file';
  const where = given === undefined ? null : `--chromium ${given}`;
  return new CommandError(
    'chromium_missing',
    message,
    EXIT.usage,
    where,
    'install chromium, or name it with --chromium',
  );
}

function notServed(error: unknown, { port, host }: SidecarOptions): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    const advice = 'take another, or 0 for a free one';
    return new CommandError('port_taken', `port ${port} is taken`, EXIT.failed, '--port', advice, { cause: error });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EACCES') {
    const message = `it can't listen on ${host}, port ${port}`;
    return new CommandError('not_served', message, EXIT.failed, '--host', 'take another', { cause: error });
  }
  return error;
}
