/**
 * The text of the practice web.
 *
 * A page is a head with its own title and links, then paragraphs copied from a pool that the seed fills once: a page of
 * 20 KB costs a few microseconds, and no two pages read alike. Links take every form that a browser would follow.
 */
import { mix, pick } from './dice.js';
import type { Link, PracticeHost, PracticeWeb } from './web.js';

const BIG_PAGE_BYTES = 1_048_576;
const PARAGRAPHS = 512;
const SYLLABLES =
  'ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to'.split(
    ' ',
  );
const WORDS = vocabulary();
const TAIL = '\n</article></body></html>\n';

export interface PageText {
  /** The page's HTML in UTF-8, of the size that the settings ask for where its links leave room. */
  htmlOf(host: PracticeHost, page: number, size: 'usual' | 'big'): Buffer;
}

/** `authority` gives the `host[:port]` that absolute links carry. */
export function pageText(web: PracticeWeb, authority: (host: PracticeHost) => string): PageText {
  const { seed } = web.settings;
  const pool = Array.from({ length: PARAGRAPHS }, (_, index) =>
    Buffer.from(`\n<p>${paragraph(seed, index)}`, 'latin1'),
  );
  return {
    htmlOf(host, page, size) {
      const head = headOf(web, host, page, authority);
      const bytes = size === 'big' ? BIG_PAGE_BYTES : usualBytes(web, host, page);
      return fill(head, bytes, (n) => pick(pool, mix(seed, host.index, page, 1000 + n)));
    },
  };
}

function usualBytes(web: PracticeWeb, host: PracticeHost, page: number): number {
  const { pageBytes, seed } = web.settings;
  return pageBytes === 'varied' ? 2_000 + (mix(seed, host.index, page, 51) % 30_000) : pageBytes;
}

function headOf(web: PracticeWeb, host: PracticeHost, page: number, authority: (host: PracticeHost) => string): string {
  const { seed } = web.settings;
  const title = `${words(seed, host.index, page, 52, 4)} ${page}`;
  const path = web.pathOf(host, page);
  let list = '';
  web.linksOf(host, page).forEach((link, position) => {
    const bits = mix(seed, host.index, page, 2000 + position);
    const href = hrefOf(link, host, path, authority, bits);
    list += `<li><a href="${href}"${link.nofollow ? ' rel="nofollow"' : ''}>${words(seed, host.index, page, bits, 2)}</a>\n`;
  });
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${title} – ${host.name}</title></head>\n` +
    `<body><h1>${title}</h1>\n<nav><ul>\n${list}</ul></nav>\n<article><p>Žluťoučký ${title}, ${words(seed, host.index, page, 53, 12)}.`
  );
}

/** One of the spellings under which the target may be linked. */
function hrefOf(
  link: Link,
  from: PracticeHost,
  fromPath: string,
  authority: (host: PracticeHost) => string,
  bits: number,
): string {
  const full = `${authority(link.host)}${link.path}`;
  if (link.host !== from) {
    if (bits % 8 === 0) return `//${full}`;
    if (bits % 8 === 1) return `HTTP://${authority(link.host).toUpperCase()}${link.path}`;
    return `http://${full}`;
  }
  const form = bits % 6;
  if (form === 0) return `http://${full}`;
  if (form === 1) return `${link.path}#part-${bits % 10}`;
  if (form === 2 && fromPath.lastIndexOf('/') > 0) return `..${link.path}`;
  if (form === 3) return ` ${link.path}\n`;
  return link.path;
}

/** Head, then paragraphs up to `bytes` less the tail; the last one is cut inside its text. */
function fill(head: string, bytes: number, paragraphAt: (n: number) => Buffer): Buffer {
  const headBytes = Buffer.byteLength(head);
  const body = Buffer.allocUnsafe(Math.max(bytes, headBytes + TAIL.length));
  const room = body.length - TAIL.length;
  let at = body.write(head);
  for (let n = 0; room - at > 16; n++) at += paragraphAt(n).copy(body, at, 0, room - at);
  body.fill(' ', at, room);
  body.write(TAIL, room, 'latin1');
  return body;
}

function paragraph(seed: number, index: number): string {
  const sentences = 6 + (mix(seed, index, 0, 61) % 6);
  let text = '';
  for (let n = 0; n < sentences; n++) {
    const sentence = words(seed, index, n, 62, 8 + (mix(seed, index, n, 63) % 10));
    text += `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}. `;
  }
  return text;
}

/** Words of the pool, one after another. */
function words(seed: number, host: number, page: number, salt: number, count: number): string {
  let text = '';
  for (let n = 0; n < count; n++)
    text += `${n > 0 ? ' ' : ''}${WORDS[mix(seed, host, page, salt + 7 * n) % WORDS.length]}`;
  return text;
}

/** All words of two syllables, and as many of three. */
function vocabulary(): string[] {
  const pairs = SYLLABLES.flatMap((first) => SYLLABLES.map((second) => first + second));
  return [...pairs, ...pairs.map((pair, n) => pair + pick(SYLLABLES, mix(n, 0, 0, 64)))];
}
