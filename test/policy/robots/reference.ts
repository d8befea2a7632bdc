/**
 * A reference for robots.txt, written down from RFC 9309 as directly as can be, and sharing nothing with the product.
 *
 * It reads well-formed lines only (`key: value`), as the differential makes no others; it compares octet by octet and
 * tries every length that a `*` may stand for, which is slow and hard to get wrong.
 */

interface Rule {
  readonly allow: boolean;
  /** Tokens of the pattern: octets in one spelling, `*`, and at the end perhaps `$`. */
  readonly tokens: readonly string[];
  readonly octets: number;
}

/** §2.2.2, §2.2.3: the most specific match decides, Allow among equals; nothing matches: allowed. */
export function referenceAllows(text: string, productToken: string, pathAndQuery: string): boolean {
  if (pathAndQuery === '/robots.txt') return true;
  const target = tokensOf(pathAndQuery, 'target');
  let best: Rule | null = null;
  for (const rule of rulesFor(text, productToken)) {
    if (!matches(rule.tokens, 0, target, 0)) continue;
    if (best === null || rule.octets > best.octets || (rule.octets === best.octets && rule.allow)) best = rule;
  }
  return best?.allow ?? true;
}

/** §2.2.1: the groups that name the token, joined; without one those for `*`. */
function rulesFor(text: string, productToken: string): Rule[] {
  const own: Rule[] = [];
  const any: Rule[] = [];
  let isNamed = false;
  let agents: string[] = [];
  let hasRules = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, key, value] = /^\s*([a-z-]+)\s*:\s*(.*?)\s*$/i.exec(line.replace(/#.*/, '')) ?? [];
    if (key === undefined || value === undefined) continue;
    switch (key.toLowerCase()) {
      case 'user-agent':
        agents = hasRules ? [value.toLowerCase()] : [...agents, value.toLowerCase()];
        hasRules = false;
        if (value.toLowerCase() === productToken.toLowerCase()) isNamed = true;
        break;
      case 'allow':
      case 'disallow': {
        hasRules = true;
        const rule = ruleOf(key.toLowerCase() === 'allow', value);
        if (rule === null) break;
        if (agents.includes(productToken.toLowerCase())) own.push(rule);
        if (agents.includes('*')) any.push(rule);
      }
    }
  }
  return isNamed ? own : any;
}

function ruleOf(allow: boolean, value: string): Rule | null {
  if (!value.startsWith('/') && !value.startsWith('*')) return null;
  const tokens = tokensOf(value, 'rule');
  // A rule is as specific as its octets are many (§2.2.2), in the spelling in which they are compared.
  return {
    allow,
    tokens,
    octets: tokens.reduce((sum, token) => sum + (token === ANY || token === END ? 1 : token.length), 0),
  };
}

const ANY = 'any';
const END = 'end';

/** §2.2.2: octets outside of the unreserved are compared escaped, unreserved ones bare; `/ ? & =` stay as they are. */
function tokensOf(text: string, side: 'rule' | 'target'): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    const escape = /^%([0-9A-Fa-f]{2})/.exec(text.slice(at));
    if (side === 'rule' && char === '*') tokens.push(ANY);
    else if (side === 'rule' && char === '$' && at === text.length - 1) tokens.push(END);
    else if (escape !== null) {
      const decoded = String.fromCharCode(Number.parseInt(escape[1] as string, 16));
      tokens.push(/[A-Za-z0-9._~-]/.test(decoded) ? decoded : escape[0].toUpperCase());
      at += 2;
    } else if (/[A-Za-z0-9._~/?&=%-]/.test(char)) tokens.push(char);
    else
      for (const octet of new TextEncoder().encode(char))
        tokens.push(`%${octet.toString(16).toUpperCase().padStart(2, '0')}`);
  }
  return tokens;
}

function matches(pattern: readonly string[], p: number, target: readonly string[], t: number): boolean {
  const token = pattern[p];
  if (token === undefined) return true;
  if (token === END) return t === target.length;
  if (token !== ANY) return target[t] === token && matches(pattern, p + 1, target, t + 1);
  for (let rest = t; rest <= target.length; rest++) if (matches(pattern, p + 1, target, rest)) return true;
  return false;
}
