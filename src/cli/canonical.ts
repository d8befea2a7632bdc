/** `orbweaver canonical URL…`: the canonical form, rule by rule. */
import { Command } from 'commander';
import { CODES } from '../domain/outcome.js';
import { canonicalise } from '../policy/canonical.js';
import { CANONICAL_RULES, canonicalSteps } from '../policy/canonical-steps.js';
import { withJsonOption } from './options.js';
import { CommandError, EXIT, printJson, type Terminal } from './terminal.js';

interface CanonicalOptions {
  readonly base?: string;
  readonly json: boolean;
}

export function canonicalCommand(terminal: Terminal): Command {
  const command = new Command('canonical')
    .description('print the canonical form of URLs, rule by rule')
    .argument('<url...>', 'URLs as they are written somewhere')
    .option('--base <url>', 'resolve them against this URL first');
  return withJsonOption(command).action((urls: string[], options: CanonicalOptions) => {
    if (options.base !== undefined && !URL.canParse(options.base)) {
      throw new CommandError('url_invalid', `${options.base} is no absolute URL`, EXIT.usage, '--base');
    }
    for (const input of urls) {
      if (options.json) printJson(terminal, explained(input, options.base));
      else for (const line of paragraph(input, options.base)) terminal.print(line);
    }
  });
}

function explained(input: string, base: string | undefined) {
  const canonical = canonicalise(input, base);
  return {
    input,
    canonical: canonical.ok ? canonical.url : null,
    reason: canonical.ok ? null : canonical.refusal,
    steps: canonicalSteps(input, base),
  };
}

function paragraph(input: string, base: string | undefined): string[] {
  const { canonical, reason, steps } = explained(input, base);
  const end = canonical ?? `refused: ${CODES[reason as keyof typeof CODES]} [${reason}]`;
  return [input, ...steps.map(({ rule, after }) => `  ${after}\n      ${CANONICAL_RULES[rule]}`), `  = ${end}`];
}
