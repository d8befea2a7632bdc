/** `orbweaver robots URL… --file robots.txt --agent NAME`: which line of a robots.txt decides about each URL. */
import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import { originOf } from '../domain/host.js';
import { productTokenOf } from '../policy/robots/agent.js';
import { compileRobots, type RobotsDecision, type RobotsMatcher } from '../policy/robots/match.js';
import { readRobots } from '../policy/robots/read.js';
import { ROBOTS_BYTES_MAX, type RobotsRemark, type RobotsRules } from '../policy/robots/rules.js';
import { unreadable } from './files.js';
import { withJsonOption } from './options.js';
import { examples } from './program.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

interface RobotsOptions {
  readonly file: string;
  readonly agent: string;
  readonly robotsUrl?: string;
  readonly json: boolean;
}

/** The fields of the JSON, one object a URL. */
interface Told {
  readonly url: string;
  /** Null: the file is of another origin, and has no say. */
  readonly allowed: boolean | null;
  readonly rule: RobotsDecision['rule'];
  /** As written; a crawl waits for a minute at most. */
  readonly crawlDelaySeconds: number | null;
  readonly sitemaps: readonly string[];
  /** What its site may not have meant: `cut` (longer than is read), `markup` (an HTML page); null: nothing of the kind. */
  readonly remark: RobotsRemark | null;
}

export function robotsCommand(terminal: Terminal): Command {
  const command = new Command('robots')
    .description('say of URLs which line of a robots.txt decides about them')
    .argument('<url...>', 'absolute URLs')
    .requiredOption('--file <file>', 'the robots.txt; `-` reads standard input')
    .requiredOption('--agent <name>', 'the name by which the file knows the crawler, or its whole User-Agent')
    .option('--robots-url <url>', "where the file was found; without it, /robots.txt of each URL's own origin")
    .addHelpText('after', () =>
      examples(
        ['robots https://a.example/private/x --file robots.txt --agent ExampleBot', 'the line that decides'],
        ['robots https://a.example/ --file - --agent ExampleBot < robots.txt', 'the file from standard input'],
        [
          'robots http://a.example/ --file r.txt --agent ExampleBot --robots-url https://a.example/robots.txt',
          'of another origin than the file: it has no say, and `allowed` is null',
        ],
        ['why https://a.example/private/x --data crawls/example', 'by the copy that a crawl has read itself'],
      ),
    );
  return withJsonOption(command).action(async (urls: string[], options: RobotsOptions) => {
    const { file, robotsUrl } = options;
    // Of a file whose place is known: what is not of its origin, whatever it is, is none of its business.
    if (robotsUrl === undefined) for (const url of urls) refuseUnlessUrl(url, '<url>');
    else refuseUnlessUrl(robotsUrl, '--robots-url');
    const reader = readerOf(await bytesOf(file), tokenOf(options.agent));
    for (const url of urls) {
      const told = tell(url, reader(robotsUrl ?? `${originOf(new URL(url))}/robots.txt`));
      if (options.json) printJson(terminal, told);
      else for (const line of paragraph(told)) terminal.print(line);
    }
  });
}

interface FileAtUrl {
  readonly rules: RobotsRules;
  readonly matcher: RobotsMatcher;
}

/** The same bytes mean something else at another place: to whom they speak, and what relative sitemaps are. */
function readerOf(bytes: Uint8Array, token: string): (robotsUrl: string) => FileAtUrl {
  const known = new Map<string, FileAtUrl>();
  return (robotsUrl) => {
    const before = known.get(robotsUrl);
    if (before !== undefined) return before;
    const rules = readRobots(bytes, token, robotsUrl);
    const file = { rules, matcher: compileRobots(rules, robotsUrl) };
    known.set(robotsUrl, file);
    return file;
  };
}

function tell(url: string, { rules, matcher }: FileAtUrl): Told {
  const { allowed, rule } = matcher.decide(url);
  return {
    url,
    allowed,
    rule,
    crawlDelaySeconds: rules.crawlDelaySeconds,
    sitemaps: rules.sitemaps,
    remark: rules.remark ?? null,
  };
}

function paragraph(told: Told): string[] {
  const { url, allowed, rule, crawlDelaySeconds, sitemaps, remark } = told;
  const verdict = allowed === null ? 'no say' : allowed ? 'allowed' : 'disallowed';
  return [
    `${verdict}  ${url}`,
    `  ${why(allowed, rule)}`,
    ...(crawlDelaySeconds === null ? [] : [`  Crawl-delay: ${crawlDelaySeconds} s`]),
    ...sitemaps.map((sitemap) => `  Sitemap: ${sitemap}`),
    ...(remark === null ? [] : [`  ${REMARKS[remark]}`]),
  ];
}

const REMARKS: Readonly<Record<RobotsRemark, string>> = {
  cut: `The file is longer than is read: what comes after ${ROBOTS_BYTES_MAX} bytes does not count.`,
  markup: 'The file is an HTML page, not a robots.txt: it disallows nothing.',
};

function why(allowed: boolean | null, rule: Told['rule']): string {
  if (rule !== null) return `line ${rule.line}: ${rule.text}`;
  if (allowed === null) return 'the file is of another origin: its rules are not about this URL';
  return allowed ? 'no line speaks of it' : 'to find out would cost too much, which counts as disallowed';
}

/** As much as is read of any robots.txt, and a byte more, so that what is longer is known to be. */
async function bytesOf(file: string): Promise<Uint8Array> {
  const input = file === '-' ? process.stdin : createReadStream(file, { end: ROBOTS_BYTES_MAX });
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of input as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length > ROBOTS_BYTES_MAX) break;
    }
  } catch (error) {
    throw unreadable(error, file);
  }
  return Buffer.concat(pieces);
}

function tokenOf(agent: string): string {
  const token = productTokenOf(agent);
  if (token !== null) return token;
  throw new CommandError(
    'agent_invalid',
    `${JSON.stringify(agent)} is no name that robots.txt can know a crawler by`,
    EXIT.usage,
    '--agent',
    'use letters, `_` and `-` only (RFC 9309 §2.2.1), as in ExampleBot',
  );
}

function refuseUnlessUrl(text: string, where: string): void {
  const protocol = URL.canParse(text) ? new URL(text).protocol : null;
  if (protocol === 'http:' || protocol === 'https:') return;
  const what = protocol === null ? 'is no absolute URL' : 'is no http or https URL';
  throw new CommandError('url_invalid', `${text} ${what}`, EXIT.usage, where, 'write it as https://a.example/path');
}
