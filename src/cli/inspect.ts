/** `orbweaver inspect FILE --url URL`: what the engine sees in a page. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config/schema.js';
import type { Header } from '../domain/fetching.js';
import { CODES } from '../domain/outcome.js';
import type { ChallengeKind } from '../domain/parsing.js';
import type { Inspection, InspectedLink } from '../page/inspection.js';
import { canonicalise } from '../policy/canonical.js';
import { unreadable } from './files.js';
import { type ConfigOptions, withConfigOptions, withJsonOption } from './options.js';
import { requiredProductToken } from './product-token.js';
import { examples } from './program.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

interface InspectOptions extends ConfigOptions {
  readonly url: string;
  readonly type?: string;
  readonly status?: number;
  readonly header: readonly Header[];
  readonly text: boolean;
  readonly json: boolean;
}

export function inspectCommand(terminal: Terminal): Command {
  const command = new Command('inspect')
    .description('show what the engine sees in a page: its encoding, links, title, kind and wishes')
    .argument('<file>', 'the page, without a content coding; - reads standard input')
    .requiredOption('--url <url>', 'where the page came from: its links are resolved against it')
    .option('--type <mime>', 'the Content-Type it came with, as in "text/html; charset=koi8-r"; else its bytes tell')
    .option('--status <code>', 'the status it came with: a door shows by it as well', statusCode)
    .option('--header <name: value>', 'a header that it came with; may be given more than once', addHeader, [])
    .option('--text', 'print the visible text and nothing else', false)
    .addHelpText('after', () =>
      examples(
        ['inspect page.html --url https://example.org/news/', 'all that is seen, and which links a crawl would follow'],
        ['inspect page.html --url https://example.org/ --type "text/html; charset=shift_jis"', 'as its server sent it'],
        ['inspect page.html --url https://example.org/ --set links.embeds=false --json', 'one JSON object'],
        [
          'inspect page.html --url https://example.org/ --status 403 --header "cf-mitigated: challenge"',
          'whether something stands in its place, and why',
        ],
        ['inspect page.html --url https://example.org/ --text', 'the text that is searched and compared'],
        ['inspect - --url https://example.org/ < page.html', 'from standard input'],
      ),
    );
  return withJsonOption(withConfigOptions(command)).action(async (file: string, options: InspectOptions) => {
    const url = pageUrl(options.url);
    const { readConfig } = await import('./configuration.js');
    const { config } = readConfig(options);
    const { bytesMax } = config.fetch;
    const bytes = file === '-' ? await readStandardInput(bytesMax) : readPageFile(file, bytesMax);
    const type = options.type ?? (await likelyType(file, bytes));
    const inspection = await inspected(url, type, options, bytes, config);
    if (options.text) terminal.print(inspection.text);
    else if (options.json) printJson(terminal, contract(inspection));
    else for (const line of report(inspection)) terminal.print(line);
  });
}

/** Throws CommandError. */
function pageUrl(text: string): string {
  const canonical = canonicalise(text);
  if (canonical.ok) return canonical.url;
  const advice = 'give the http or https URL of the page, as in https://example.org/news/';
  throw new CommandError(
    canonical.refusal,
    `${CODES[canonical.refusal]}: ${text.slice(0, 200)}`,
    EXIT.usage,
    '--url',
    advice,
  );
}

function statusCode(text: string): number {
  if (!/^[1-5]\d\d$/.test(text)) throw new InvalidArgumentError('a status is a number from 100 to 599');
  return Number(text);
}

function addHeader(text: string, before: readonly Header[]): readonly Header[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('a header is given as name: value');
  return [...before, [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]];
}

async function inspected(
  url: string,
  type: string | null,
  { status, header }: InspectOptions,
  bytes: Uint8Array,
  config: Config,
): Promise<Inspection> {
  const { inspectPage } = await import('../page/inspection.js');
  const headers: Header[] = type === null ? [...header] : [...header, ['content-type', type]];
  const robotsMeta = { obeyed: config.robots.meta, productToken: requiredProductToken(config) };
  return inspectPage({ url, status: status ?? null, headers }, bytes, {
    links: config.links,
    robotsMeta,
    challenge: config.challenge,
  });
}

/** What a page's name or its first bytes promise; null where they say nothing, as of a picture. */
async function likelyType(file: string, bytes: Uint8Array): Promise<string | null> {
  const { mediaTypeOf } = await import('../page/media-type.js');
  if (/\.x?html?$/i.test(file)) return 'text/html';
  // A part of a page begins with any element: the Web's own sniffing knows but a few.
  const { mime, reading } = mediaTypeOf([], bytes);
  const isMarkup =
    reading === 'text' && mime === 'text/plain' && /^\s*</.test(Buffer.from(bytes.subarray(0, 256)).toString('latin1'));
  return isMarkup ? 'text/html' : null;
}

// -- the file ---------------------------------------------------------------------------------------------------

const CHUNK_BYTES = 1 << 20;

/** Everything up to the bound that holds for what is fetched. Throws CommandError beyond it. */
function readPageFile(path: string, bytesMax: number): Uint8Array {
  try {
    const file = openSync(path, 'r');
    try {
      if (fstatSync(file).size > bytesMax) throw tooLarge(path, bytesMax);
      return readUpTo(file, bytesMax, path);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw error instanceof CommandError ? error : unreadable(error, path);
  }
}

/** A pipe or a device tells no size: it is read until its end or the bound. */
function readUpTo(file: number, bytesMax: number, where: string): Uint8Array {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const read = readSync(file, chunk);
    if (read === 0) return Buffer.concat(chunks, length);
    length += read;
    if (length > bytesMax) throw tooLarge(where, bytesMax);
    chunks.push(chunk.subarray(0, read));
  }
}

async function readStandardInput(bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge('standard input', bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooLarge(where: string, bytesMax: number): CommandError {
  const advice = 'a crawl would refuse it as well; `--set fetch.bytesMax=BYTES` raises the bound';
  return new CommandError(
    'too_large',
    `it is larger than fetch.bytesMax, ${bytesMax} bytes`,
    EXIT.failed,
    where,
    advice,
  );
}

// -- what is shown ----------------------------------------------------------------------------------------------

/** Without the text, which has an option of its own. */
function contract({ text: _, ...rest }: Inspection): object {
  return rest;
}

/** Links shown of one kind before the rest is counted. */
const LINKS_SHOWN = 200;

const KINDS: Readonly<Record<ChallengeKind, string>> = {
  challenge: 'a door in front of the page',
  script_shell: "a script's empty shell",
};

function report(seen: Inspection): string[] {
  const { robotsMeta, challenge, links } = seen;
  const wishes = [robotsMeta.noindex ? 'noindex' : null, robotsMeta.nofollow ? 'nofollow' : null].filter(Boolean);
  const rows: (readonly [string, string | null])[] = [
    ['url', seen.url],
    ['type', seen.charset === null ? seen.mime : `${seen.mime}, ${seen.charset}`],
    ['title', seen.title],
    ['kind', `${seen.kind}, ${seen.textLength.toLocaleString('en')} characters of text`],
    ['base', seen.baseUrl === seen.url ? null : seen.baseUrl],
    ['canonical', seen.canonical],
    ...seen.alternates.map(({ hreflang, href }) => ['alternate', `${hreflang} ${href}`] as const),
    ['refresh', seen.refresh],
    ['robots', wishes.length === 0 ? null : wishes.join(', ')],
    ['challenge', challenge.kind === null ? null : `${KINDS[challenge.kind]}: ${challenge.reasons.join('; ')}`],
    ['digest', seen.digest],
    ['simhash', seen.simhash],
  ];
  const head = rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)} ${value}`]));
  return [
    ...head,
    ...linkLines(
      'followed',
      links.filter(({ followed }) => followed),
    ),
    ...linkLines(
      'not followed',
      links.filter(({ followed }) => !followed),
    ),
    ...(seen.linksRefused === 0
      ? []
      : ['', `${seen.linksRefused} more lead to nothing that could be fetched (mailto:, javascript:, …)`]),
  ];
}

function linkLines(title: string, links: readonly InspectedLink[]): string[] {
  if (links.length === 0) return [];
  const shown = links.slice(0, LINKS_SHOWN).map(({ url, element, rel }) => {
    const carrier = rel === null ? element : `${element} rel=${rel.replace(/\s+/g, ' ')}`;
    return `  ${carrier.padEnd(20)} ${url}`;
  });
  const rest = links.length - shown.length;
  return ['', `${links.length} ${title}:`, ...shown, ...(rest > 0 ? [`  and ${rest} more; --json shows all`] : [])];
}
