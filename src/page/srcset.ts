/**
 * `srcset`: pictures of which a reader's screen takes one, and an archive all (HTML Standard §4.8.4.2.1, 'parse a
 * srcset attribute').
 *
 * A comma ends a candidate only where a URL can't hold it: `data:image/png;base64,AA` and `/w,100/x.png` are one URL
 * each. A candidate whose descriptors can't be read is one that no reader would load, and is left out.
 *
 * Invariant: each character is looked at once or twice, whatever is written.
 */
export function srcsetUrls(text: string): string[] {
  const urls: string[] = [];
  for (let at = skipGap(text, 0); at < text.length; at = skipGap(text, at)) {
    let end = endOfUrl(text, at);
    const url = withoutCommas(text.slice(at, end));
    if (end - at > url.length) urls.push(url);
    else {
      const from = end;
      end = endOfDescriptors(text, from);
      if (areDescriptors(text.slice(from, end))) urls.push(url);
    }
    at = end;
  }
  return urls;
}

const SPACE = /[\t\n\f\r ]/;

function skipGap(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] === ',' || SPACE.test(text.charAt(at)))) at++;
  return at;
}

function endOfUrl(text: string, from: number): number {
  let at = from;
  while (at < text.length && !SPACE.test(text.charAt(at))) at++;
  return at;
}

function withoutCommas(url: string): string {
  let length = url.length;
  while (url[length - 1] === ',') length--;
  return url.slice(0, length);
}

/** The comma that ends a candidate, or the end; commas in parentheses are none. */
function endOfDescriptors(text: string, from: number): number {
  let isInParentheses = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '(') isInParentheses = true;
    else if (char === ')') isInParentheses = false;
    else if (char === ',' && !isInParentheses) return at;
  }
  return text.length;
}

const WIDTH = /^\d+w$/;
const DENSITY = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?x$/;
const HEIGHT = /^\d+h$/;

/** Nothing, one density, or a width with perhaps a height; each once, none zero but a density. */
function areDescriptors(text: string): boolean {
  let width = 0;
  let density = 0;
  let height = 0;
  for (const word of text.split(/[\t\n\f\r ]+/)) {
    if (word === '') continue;
    const value = Number(word.slice(0, -1));
    if (WIDTH.test(word) && value > 0) width++;
    else if (DENSITY.test(word) && value >= 0) density++;
    else if (HEIGHT.test(word) && value > 0) height++;
    else return false;
  }
  return width <= 1 && density <= 1 && height <= 1 && width + density <= 1 && density + height <= 1 && height <= width;
}
