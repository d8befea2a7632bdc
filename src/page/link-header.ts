/**
 * The Link header (RFC 8288 §3): links of any resource, a picture or a PDF included.
 *
 * Read as the RFC's appendix B.2 reads it: what is wrong costs itself, and the next comma begins anew. Only the first
 * `rel` of a link counts. A link with an `anchor` speaks of something else than what was asked for.
 */
export interface HeaderLink {
  readonly target: string;
  /** As written. */
  readonly rel: string | null;
  readonly hreflang: string | null;
  readonly anchor: string | null;
}

/** Links of one header line, in order. Time is linear in its length. */
export function parseLinkHeader(value: string): HeaderLink[] {
  const links: HeaderLink[] = [];
  let at = 0;
  while (at < value.length) {
    const open = value.indexOf('<', at);
    if (open === -1) break;
    const close = value.indexOf('>', open);
    if (close === -1) break;
    const { parameters, end } = readParameters(value, close + 1);
    links.push({
      target: value.slice(open + 1, close).trim(),
      rel: parameters.get('rel') ?? null,
      hreflang: parameters.get('hreflang') ?? null,
      anchor: parameters.get('anchor') ?? null,
    });
    at = end;
  }
  return links;
}

/** From behind a target: `; name=value` until the comma that begins the next link. The first of each name counts. */
function readParameters(value: string, from: number): { parameters: Map<string, string>; end: number } {
  const parameters = new Map<string, string>();
  let at = from;
  while (at < value.length) {
    const char = value[at];
    if (char === ',') return { parameters, end: at + 1 };
    if (char !== ';') {
      at++;
      continue;
    }
    const nameEnd = endOf(value, at + 1, NAME_ENDS);
    const name = value
      .slice(at + 1, nameEnd)
      .trim()
      .toLowerCase();
    at = nameEnd;
    if (value[at] !== '=') continue;
    const read = readValue(value, at + 1);
    at = read.end;
    if (!parameters.has(name)) parameters.set(name, read.text);
  }
  return { parameters, end: at };
}

const NAME_ENDS = '=;,';
const VALUE_ENDS = ';,';

function endOf(value: string, from: number, ends: string): number {
  let at = from;
  while (at < value.length && !ends.includes(value.charAt(at))) at++;
  return at;
}

/** A token, or a quoted string with its escapes undone (RFC 9110 §5.6.4); one that is not closed ends with the line. */
function readValue(value: string, from: number): { text: string; end: number } {
  let at = from;
  while (value[at] === ' ' || value[at] === '\t') at++;
  if (value[at] !== '"') {
    const end = endOf(value, at, VALUE_ENDS);
    return { text: value.slice(at, end).trim(), end };
  }
  let text = '';
  for (at++; at < value.length && value[at] !== '"'; at++) {
    if (value[at] === '\\') at++;
    text += value[at] ?? '';
  }
  return { text, end: at + 1 };
}
