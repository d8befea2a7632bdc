/**
 * A second opinion on robots.txt (RFC 9309), for the truth about the practice web and for the judge.
 *
 * It shares no line with the engine, so that one mistake can't acquit another. Groups are joined by product token,
 * the longest matching rule wins, `Allow` wins a tie; `*` stands for any octets and a final `$` for the end. Rules
 * and paths are compared in one spelling: unreserved octets bare, all others escaped in upper case.
 */

export interface RobotsRules {
  /** Longest first, `Allow` first among equals: the first that matches decides. */
  readonly rules: readonly RobotsRule[];
  /** The largest one that the group names; null where it names none. */
  readonly crawlDelaySeconds: number | null;
}

export interface RobotsRule {
  readonly allow: boolean;
  /** The literal pieces between the `*`s, in the common spelling. */
  readonly pieces: readonly string[];
  readonly anchored: boolean;
  readonly length: number;
}

export const ALLOW_ALL: RobotsRules = { rules: [], crawlDelaySeconds: null };

interface Group {
  readonly rules: RobotsRule[];
  readonly delays: number[];
}

/** What a robots.txt says to one crawler: its own groups joined, else those for `*`, else nothing (RFC 9309 §2.2.1). */
export function rulesFor(text: string, productToken: string): RobotsRules {
  const own: Group = { rules: [], delays: [] };
  const anyone: Group = { rules: [], delays: [] };
  const token = productToken.toLowerCase();
  let namedOwn = false;
  let listening: Set<Group> = new Set();
  let listOpen = false;
  for (const [key, value] of directives(text)) {
    if (key === 'user-agent') {
      if (!listOpen) listening = new Set();
      listOpen = true;
      const agent = value.startsWith('*') ? '*' : (/^[a-z_-]+/i.exec(value)?.[0] ?? '').toLowerCase();
      if (agent === token) {
        listening.add(own);
        namedOwn = true;
      } else if (agent === '*') listening.add(anyone);
    } else if (key === 'allow' || key === 'disallow') {
      listOpen = false;
      if (value === '') continue;
      const rule = toRule(key === 'allow', value);
      for (const group of listening) group.rules.push(rule);
    } else if (key === 'crawl-delay' && /^(\d+(\.\d*)?|\.\d+)$/.test(value)) {
      for (const group of listening) group.delays.push(Number(value));
    }
  }
  return toRules(namedOwn ? own : anyone);
}

/** May this path (with its query) be asked for? `/robots.txt` always may. */
export function isAllowed(robots: RobotsRules, pathAndQuery: string): boolean {
  if (pathAndQuery === '/robots.txt' || robots.rules.length === 0) return true;
  const path = commonSpelling(pathAndQuery, /[A-Za-z0-9\-._~/?=&]/);
  const decisive = robots.rules.find((rule) => matches(rule, path));
  return decisive?.allow ?? true;
}

function* directives(text: string): Generator<[key: string, value: string]> {
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const bare = line.split('#', 1)[0] ?? '';
    const colon = bare.indexOf(':');
    if (colon > 0) yield [bare.slice(0, colon).trim().toLowerCase(), bare.slice(colon + 1).trim()];
  }
}

function toRules(group: Group): RobotsRules {
  const rules = [...group.rules].sort((a, b) => b.length - a.length || Number(b.allow) - Number(a.allow));
  return { rules, crawlDelaySeconds: group.delays.length > 0 ? Math.max(...group.delays) : null };
}

function toRule(allow: boolean, value: string): RobotsRule {
  const anchored = value.endsWith('$');
  const pattern = commonSpelling(anchored ? value.slice(0, -1) : value, /[A-Za-z0-9\-._~/?=&*]/);
  return { allow, pieces: pattern.split('*'), anchored, length: pattern.length + Number(anchored) };
}

/** Greedy from the left is enough: an earlier find of a piece never spoils a later one. */
function matches(rule: RobotsRule, path: string): boolean {
  const [first = '', ...rest] = rule.pieces;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = rule.anchored ? rest.pop() : undefined;
  for (const piece of rest) {
    const found = path.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  if (!rule.anchored) return true;
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last);
}

/** RFC 9309 §2.2.2: escaped unreserved octets are decoded, all that isn't `bare` is escaped, hex in upper case. */
function commonSpelling(text: string, bare: RegExp): string {
  let spelled = '';
  for (const part of text.match(/%[0-9a-f]{2}|[\s\S]/giu) ?? []) {
    if (part.length === 3 && part.startsWith('%')) {
      const character = String.fromCharCode(Number.parseInt(part.slice(1), 16));
      spelled += /[A-Za-z0-9\-._~]/.test(character) ? character : part.toUpperCase();
    } else if (part === '%' || bare.test(part)) spelled += part;
    else spelled += escapeOctets(part);
  }
  return spelled;
}

function escapeOctets(character: string): string {
  return [...Buffer.from(character, 'utf8')]
    .map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}
