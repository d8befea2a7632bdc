/**
 * The product token: the name by which robots.txt knows a crawler (RFC 9309 §2.2.1).
 *
 * It is taken from the configured User-Agent, so that what is sent and what is matched can't drift apart. The RFC
 * allows letters, `_` and `-` only. A name with anything else (a digit, most often) would match groups that mean
 * another crawler, as readers cut a name at its first invalid character; so it is refused, and no crawl starts with it.
 */

const TOKEN = /^[A-Za-z_-]+$/;

/** `Mozilla/5.0 (compatible; ExampleBot/2.1; …)`: by custom the crawler's name stands in the comment. */
const IN_COMMENT = /^Mozilla\/[\d.]+ +\(compatible; *([^\s/;)]+)/;

/** The product token of a User-Agent value, as spelled there; null where it has none that the RFC allows. */
export function productTokenOf(userAgent: string): string | null {
  const name = IN_COMMENT.exec(userAgent)?.[1] ?? /^[^\s/]+/.exec(userAgent)?.[0] ?? '';
  return TOKEN.test(name) ? name : null;
}

const TOKEN_AT_START = /^[A-Za-z_-]+/;
const ANY_AGENT = /^\*(?:[ \t\v\f]|$)/;

/** Whom a User-agent line speaks of: everybody, one token (lower case), or nobody we could name. */
export type Addressee = { readonly kind: 'any' } | { readonly kind: 'token'; readonly token: string } | null;

/** Reads a User-agent line's value. `FooBot/2.1` and `FooBot, x` name FooBot; `*bot` names nobody. */
export function addresseeOf(value: string): Addressee {
  if (ANY_AGENT.test(value)) return { kind: 'any' };
  const token = TOKEN_AT_START.exec(value)?.[0];
  return token === undefined ? null : { kind: 'token', token: token.toLowerCase() };
}
