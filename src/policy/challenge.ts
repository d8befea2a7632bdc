/**
 * Is this page a page, or a door in front of it? An honest minimum, which says what a reader of the page would be told
 * and decides nothing in a crawl: the known marks of those who guard sites, and the density of text in what is a script's
 * empty shell.
 *
 * A mark counts only where next to nothing is said: an article about such doors quotes their marks.
 */
export interface Challenge {
  readonly verdict: boolean;
  /** One sentence for each thing that speaks for it; empty where nothing does. */
  readonly reasons: readonly string[];
}

export interface ChallengeMeasures {
  /** The page as text, markup and all. */
  readonly markup: string;
  readonly title: string | null;
  /** Of its visible text, in UTF-16 units. */
  readonly textLength: number;
  readonly scripts: number;
  /** Links to documents. */
  readonly links: number;
}

/** More visible text than a door says. */
export const DOOR_TEXT_MAX = 1_500;
/** A shell's visible text: a `Loading…`, a request to switch scripts on. */
export const SHELL_TEXT_MAX = 200;
/** Of a shell of this size or more, less than a fiftieth is text. */
export const SHELL_MARKUP_MIN = 500;
const SHELL_DENSITY_MAX = 0.02;

/** What a door of that kind is made of: addresses and names in its markup that its makers gave them. */
const MARKS: readonly (readonly [kind: string, mark: string])[] = [
  ['Cloudflare', '/cdn-cgi/challenge-platform/'],
  ['Cloudflare', '_cf_chl_opt'],
  ['Cloudflare', 'cf-browser-verification'],
  ['Cloudflare', 'challenges.cloudflare.com/turnstile'],
  ['Imperva', '_Incapsula_Resource'],
  ['DataDome', 'captcha-delivery.com'],
  ['HUMAN', 'px-captcha'],
  ['Akamai', '/_sec/cp_challenge/'],
  ['AWS WAF', '.awswaf.com/'],
  ['DDoS-Guard', '/.well-known/ddos-guard/'],
  ['Sucuri', 'sucuri_cloudproxy_js'],
  ['hCaptcha', 'hcaptcha.com/1/api.js'],
  ['reCAPTCHA', 'google.com/recaptcha/api.js'],
  ['Anubis', '/.within.website/x/cmd/anubis/'],
];

/** Titles that doors bear and pages don't. */
const TITLES =
  /^(?:just a moment(?:\.\.\.|…)|attention required! \| cloudflare|ddos-guard|one moment, please(?:\.\.\.|…)|making sure you're not a bot!)$/i;

export function challengeOf({ markup, title, textLength, scripts, links }: ChallengeMeasures): Challenge {
  const reasons: string[] = [];
  if (textLength <= DOOR_TEXT_MAX) {
    for (const [kind, mark] of MARKS) {
      if (markup.includes(mark)) reasons.push(`it bears a mark of ${kind}: ${mark}`);
    }
    if (title !== null && TITLES.test(title)) reasons.push(`its title is that of a door: ${title}`);
  }
  const isSparse = textLength <= SHELL_TEXT_MAX && textLength < markup.length * SHELL_DENSITY_MAX;
  if (isSparse && markup.length >= SHELL_MARKUP_MIN && scripts > 0 && links === 0) {
    reasons.push(
      `it is a script's shell: ${textLength} characters of text in ${markup.length} of markup, and no links`,
    );
  }
  return { verdict: reasons.length > 0, reasons };
}
