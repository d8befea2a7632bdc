/**
 * `<meta http-equiv=refresh>`: the shared declarative refresh steps (HTML Standard §2.4.8 'Refresh', §4.2.5.3).
 *
 * Without a URL it asks for a reload, which is nothing to a crawler.
 */
export interface Refresh {
  readonly delaySeconds: number;
  readonly url: string;
}

/** Longer delays are meant for readers who stay: the page is content, and its target a link. */
export const REFRESH_REDIRECT_SECONDS_MAX = 10;

const SPACE = /[\t\n\f\r ]/;

/** @returns what it asks for, or null where it asks for a reload or can't be read. */
export function parseRefresh(content: string): Refresh | null {
  const head = /^[\t\n\f\r ]*(\d*)([\d.]*)/.exec(content);
  if (head === null || head[0].trim() === '') return null;
  let rest = content.slice(head[0].length);
  if (rest === '' || !(SPACE.test(rest.charAt(0)) || rest.startsWith(';') || rest.startsWith(','))) return null;
  rest = rest.replace(/^[\t\n\f\r ]*[;,]?[\t\n\f\r ]*/, '');
  const named = /^url[\t\n\f\r ]*=[\t\n\f\r ]*/i.exec(rest);
  const url = unquote(named === null ? rest : rest.slice(named[0].length)).trim();
  return url === '' ? null : { delaySeconds: Number(head[1] || 0), url };
}

function unquote(text: string): string {
  const quote = text.charAt(0);
  if (quote !== '"' && quote !== "'") return text;
  const end = text.indexOf(quote, 1);
  return end === -1 ? text.slice(1) : text.slice(1, end);
}
