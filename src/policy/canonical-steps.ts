/**
 * The canonical form, rule by rule: for people who ask why two spellings are one URL.
 *
 * The rules are applied one after the other here and at once in `canonicalise`, which decides; that both end at the
 * same spelling is asserted, so that no explanation can be a wrong one.
 */
import assert from 'node:assert/strict';
import { canonicalise, normaliseEscapes } from './canonical.js';

export interface CanonicalStep {
  /** Stable: `resolve`, `url-standard`, `drop-credentials`, `drop-fragment`, `normalise-escapes`. */
  readonly rule: string;
  readonly before: string;
  readonly after: string;
}

export const CANONICAL_RULES: Readonly<Record<string, string>> = {
  resolve: 'relative to its base (RFC 3986 §5)',
  'url-standard':
    'spelled as the WHATWG URL standard does: case of scheme and host, IDNA, default port, dot segments, escapes that are needed',
  'drop-credentials': 'without user and password, which are not sent',
  'drop-fragment': 'without the fragment, which no server sees',
  'normalise-escapes': 'escapes in upper case, and none for unreserved characters (RFC 3986 §6.2.2)',
};

/** The rules that changed the spelling, in order; none for what is no http or https URL. */
export function canonicalSteps(input: string, base?: string): readonly CanonicalStep[] {
  const standard = parsed(input, base);
  if (standard === null) return [];
  const steps: CanonicalStep[] = [];
  let spelling = input;
  const apply = (rule: string, after: string) => {
    if (after !== spelling) steps.push({ rule, before: spelling, after });
    spelling = after;
  };
  if (base !== undefined && parsed(input) === null) apply('resolve', standard.href);
  else apply('url-standard', standard.href);
  apply('drop-credentials', withoutCredentials(standard));
  apply('drop-fragment', spelling.split('#', 1)[0] as string);
  apply('normalise-escapes', withNormalEscapes(spelling));

  const canonical = canonicalise(input, base);
  assert(!canonical.ok || canonical.url === spelling, `the rules end at ${spelling}`);
  return steps;
}

function parsed(input: string, base?: string): URL | null {
  try {
    const url = new URL(input, base);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
  } catch {
    return null;
  }
}

function withoutCredentials(url: URL): string {
  const copy = new URL(url);
  copy.username = '';
  copy.password = '';
  return copy.href;
}

/** In path and query: an authority has none. */
function withNormalEscapes(spelling: string): string {
  const path = spelling.indexOf('/', spelling.indexOf('//') + 2);
  return spelling.slice(0, path) + normaliseEscapes(spelling.slice(path));
}
