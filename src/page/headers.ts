/** Reading a header list as it came: names in any case, values as Latin-1, several lines of one name. */
import type { Header } from '../domain/fetching.js';

/** Every value of a header, in order. `name` is in lower case. */
export function headerValues(headers: readonly Header[], name: string): string[] {
  const values: string[] = [];
  for (const [spelled, value] of headers) {
    if (spelled.length === name.length && spelled.toLowerCase() === name) values.push(value);
  }
  return values;
}

/** The first value of a header; null where it is absent. */
export function firstHeader(headers: readonly Header[], name: string): string | null {
  for (const [spelled, value] of headers) {
    if (spelled.length === name.length && spelled.toLowerCase() === name) return value;
  }
  return null;
}

/** A value read as Latin-1, taken for the UTF-8 it most often was; as it stands where it isn't. */
export function asUtf8(latin1: string): string {
  if (!/[\x80-\xff]/.test(latin1)) return latin1;
  try {
    return FATAL_UTF8.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return latin1;
  }
}

const FATAL_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
