/**
 * Pages in old encodings, held against the same pages in UTF-8.
 *
 * The Debian handbook is translated into many languages. Each translation is written in the encodings that its country
 * once used, by Python's codecs (which share nothing with the engine's), and read by the engine as it came: from what
 * the header says, from what the page says, and from nothing at all. Text, title and links must be those of the UTF-8
 * original. A guess may be wrong: how often it is right is a figure, not a verdict.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { charsetOf, decodeText } from '../../src/page/charset.js';
import { readHtml } from '../../src/page/html.js';
import { parse } from '../../src/page/parse.js';
import { html, pageOf, taskOf } from '../page/tasks.js';

export const HANDBOOK = '/usr/share/doc/debian-handbook/html';

/** One encoding that a translation is written in. */
export interface Trial {
  /** Name of the encoding (Encoding Standard §4.2). */
  readonly charset: string;
  /** What Python calls the codec that writes it. */
  readonly codec: string;
  readonly language: string;
}

export interface Tally {
  readonly trial: Trial;
  readonly pages: number;
  /** Bytes that no ASCII text has: what there was to get wrong. */
  readonly bytesBeyondAscii: number;
  readonly differences: readonly Difference[];
  /** Pages whose encoding was guessed so that text and title are right; null where there is no guess to make. */
  readonly guessed: number | null;
}

export interface Difference {
  readonly page: string;
  readonly declaredBy: Declaration;
  readonly what: string;
}

type Declaration = 'header' | 'meta' | 'mark';

/** A page as it comes, with its Content-Type. */
interface Telling {
  readonly declaredBy: Declaration;
  readonly bytes: Buffer;
  readonly type: string;
}

export const TRIALS: readonly Trial[] = [
  { charset: 'shift_jis', codec: 'cp932', language: 'ja-JP' },
  { charset: 'euc-jp', codec: 'euc_jp', language: 'ja-JP' },
  { charset: 'iso-2022-jp', codec: 'iso2022_jp', language: 'ja-JP' },
  { charset: 'euc-kr', codec: 'cp949', language: 'ko-KR' },
  { charset: 'gb18030', codec: 'gb18030', language: 'zh-CN' },
  { charset: 'gbk', codec: 'gbk', language: 'zh-CN' },
  { charset: 'big5', codec: 'big5', language: 'zh-TW' },
  { charset: 'iso-8859-2', codec: 'iso8859_2', language: 'pl-PL' },
  { charset: 'windows-1250', codec: 'cp1250', language: 'cs-CZ' },
  { charset: 'windows-1251', codec: 'cp1251', language: 'ru-RU' },
  { charset: 'koi8-r', codec: 'koi8_r', language: 'ru-RU' },
  { charset: 'iso-8859-5', codec: 'iso8859_5', language: 'ru-RU' },
  { charset: 'ibm866', codec: 'cp866', language: 'ru-RU' },
  { charset: 'windows-1252', codec: 'cp1252', language: 'fr-FR' },
  { charset: 'iso-8859-15', codec: 'iso8859_15', language: 'de-DE' },
  { charset: 'macintosh', codec: 'mac_roman', language: 'es-ES' },
  { charset: 'windows-1253', codec: 'cp1253', language: 'el-GR' },
  { charset: 'iso-8859-7', codec: 'iso8859_7', language: 'el-GR' },
  { charset: 'windows-1254', codec: 'cp1254', language: 'tr-TR' },
  { charset: 'windows-1256', codec: 'cp1256', language: 'ar-MA' },
  { charset: 'iso-8859-6', codec: 'iso8859_6', language: 'ar-MA' },
  { charset: 'windows-1258', codec: 'cp1258', language: 'vi-VN' },
  { charset: 'utf-16le', codec: 'utf_16_le', language: 'fa-IR' },
  { charset: 'utf-16be', codec: 'utf_16_be', language: 'hr-HR' },
];

/**
 * Characters for which the codec of a trial and the index of the Encoding Standard (§5) have different bytes: written
 * as references. They are signs of width and line, not letters.
 */
const ALWAYS_REFERENCES: Readonly<Record<string, string>> = {
  euc_jp: '\\~\u00a2\u00a3\u00a5\u00ac\u2014\u2016\u203e\u2212\u301c',
  iso2022_jp: '\\~\u00a2\u00a3\u00a5\u00ac\u2014\u2016\u203e\u2212\u301c',
};

/** What is missing for this, in words; null where nothing is. */
export function missingForCharsets(): string | null {
  if (!existsSync(HANDBOOK)) return 'the package debian-handbook is not installed';
  return spawnSync('python3', ['--version']).status === 0 ? null : 'there is no python3';
}

/** @param pagesMax of each trial, taken evenly from the whole. */
export function tryCharset(trial: Trial, pagesMax: number): Tally {
  const files = pagesOf(trial.language, pagesMax);
  const { bare, declared } = encoded(trial, files);
  const isWide = trial.charset.startsWith('utf-16');
  const differences: Difference[] = [];
  let guessed = 0;
  let bytesBeyondAscii = 0;
  for (const [i, file] of files.entries()) {
    const wanted = readingOf(readFileSync(file), 'text/html; charset=utf-8');
    const told: readonly Telling[] = [
      { declaredBy: 'header', bytes: bare[i] as Buffer, type: `text/html; charset=${trial.charset}` },
      isWide
        ? { declaredBy: 'mark', bytes: marked(bare[i] as Buffer, trial.charset), type: 'text/html' }
        : { declaredBy: 'meta', bytes: declared[i] as Buffer, type: 'text/html' },
    ];
    for (const { declaredBy, bytes, type } of told) {
      const what = differenceOf(wanted, readingOf(bytes, type), trial.charset);
      if (what !== null) differences.push({ page: file, declaredBy, what });
    }
    if (!isWide && differenceOf(wanted, readingOf(bare[i] as Buffer, 'text/html'), null) === null) guessed++;
    bytesBeyondAscii += (bare[i] as Buffer).reduce((count, byte) => count + Number(byte > 0x7f || byte === ESCAPE), 0);
  }
  const hasGuess = !isWide && trial.charset !== 'iso-2022-jp';
  return { trial, pages: files.length, bytesBeyondAscii, differences, guessed: hasGuess ? guessed : null };
}

/** What switches iso-2022-jp between its sets. */
const ESCAPE = 0x1b;

function pagesOf(language: string, pagesMax: number): string[] {
  const folder = join(HANDBOOK, language);
  const files = readdirSync(folder).filter((file) => file.endsWith('.html'));
  const step = Math.max(1, Math.floor(files.length / pagesMax));
  return files
    .sort()
    .filter((_, i) => i % step === 0)
    .slice(0, pagesMax)
    .map((file) => join(folder, file));
}

const ENCODER = join(dirname(fileURLToPath(import.meta.url)), 'support', 'encode-pages.py');
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

/** Each page twice: saying its encoding itself, and not. */
interface EncodedPages {
  readonly declared: readonly Buffer[];
  readonly bare: readonly Buffer[];
}

function encoded({ charset, codec }: Trial, files: readonly string[]): EncodedPages {
  const jobs = [true, false].flatMap((declared) => files.map((path) => ({ path, declared })));
  const output = execFileSync('python3', [ENCODER, codec, charset, ALWAYS_REFERENCES[codec] ?? ''], {
    input: jobs.map((job) => `${JSON.stringify(job)}\n`).join(''),
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const pages: Buffer[] = [];
  for (let at = 0; at < output.length; ) {
    const length = output.readUInt32BE(at);
    pages.push(output.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return { declared: pages.slice(0, files.length), bare: pages.slice(files.length) };
}

function marked(bytes: Buffer, charset: string): Buffer {
  return Buffer.concat([Buffer.from(charset === 'utf-16le' ? [0xff, 0xfe] : [0xfe, 0xff]), bytes]);
}

interface Reading {
  readonly charset: string | null;
  readonly title: string | null;
  readonly text: string;
  readonly links: readonly string[];
}

const READER = { forms: false, productToken: 'testbot' };

/** As a parser thread reads it, and the text that it took its figures of. */
function readingOf(bytes: Uint8Array, type: string): Reading {
  const page = pageOf(parse(taskOf(bytes, { headers: html(type) })));
  const label = /charset=(.*)/.exec(type)?.[1] ?? null;
  const { text } = readHtml(decodeText(bytes, charsetOf(bytes, label, true)), READER);
  if (text.length !== page.textLength) throw new Error('the text is not the one that was counted');
  return { charset: page.charset, title: page.title, text, links: page.links.map(({ url }) => url) };
}

/** What differs first; null where nothing does. `charset` null: whatever it was taken for. */
function differenceOf(wanted: Reading, read: Reading, charset: string | null): string | null {
  if (charset !== null && read.charset !== charset) return `read as ${read.charset}`;
  if (read.title !== wanted.title) return `title ${read.title} instead of ${wanted.title}`;
  if (read.text !== wanted.text) {
    const at = firstDifference(read.text, wanted.text);
    return `text at ${at}: ${read.text.slice(at, at + 20)} instead of ${wanted.text.slice(at, at + 20)}`;
  }
  if (read.links.join('\n') !== wanted.links.join('\n')) return `${read.links.length} links, or other ones`;
  return null;
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
