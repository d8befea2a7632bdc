/**
 * Pages in encodings of the past: those of the handbook written again in each, with its declarations changed, and what
 * is read of them beside what is read of the original.
 *
 * Python writes them, so that no table of ours stands on both sides. What an encoding lacks is written as a numeric
 * reference, as authors did.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Header } from '../../src/domain/fetching.js';
import { type PageReading, readPage } from '../../src/page/reading.js';
import { CHALLENGE_TERMS } from '../support/challenge-terms.js';
import { pagesOf } from './real-pages.js';

export interface LegacyCharset {
  /** As a page declares it. */
  readonly label: string;
  /** As the reader should name it (Encoding Standard §4.2). */
  readonly name: string;
  /** Python's codec. */
  readonly codec: string;
  readonly language: string;
}

const charset = (label: string, language: string, codec = label, name = label): LegacyCharset => ({
  label,
  language,
  codec,
  name,
});

export const LEGACY_CHARSETS: readonly LegacyCharset[] = [
  charset('shift_jis', 'ja-JP', 'cp932'),
  charset('euc-jp', 'ja-JP'),
  charset('iso-2022-jp', 'ja-JP'),
  charset('euc-kr', 'ko-KR'),
  charset('gb18030', 'zh-CN'),
  charset('gbk', 'zh-CN'),
  charset('big5', 'zh-TW'),
  charset('iso-8859-1', 'fr-FR', 'iso-8859-1', 'windows-1252'),
  charset('iso-8859-2', 'pl-PL'),
  charset('iso-8859-7', 'el-GR'),
  charset('iso-8859-9', 'tr-TR', 'iso-8859-9', 'windows-1254'),
  charset('windows-1252', 'de-DE'),
  charset('koi8-r', 'ru-RU'),
  charset('windows-1251', 'ru-RU'),
  charset('windows-1256', 'ar-MA'),
  charset('windows-1258', 'vi-VN'),
  charset('windows-1250', 'cs-CZ'),
  charset('iso-8859-5', 'ru-RU'),
  charset('ibm866', 'ru-RU', 'cp866'),
  charset('iso-8859-15', 'it-IT'),
  charset('macintosh', 'es-ES', 'mac_roman'),
  charset('windows-1253', 'el-GR'),
  charset('iso-8859-6', 'ar-MA'),
  charset('utf-16le', 'id-ID'),
  charset('utf-16be', 'hr-HR'),
];

/** How a page says its encoding. */
export type Declaration = 'meta' | 'header' | 'nothing';

export function handbookPages(language: string): string[] {
  return pagesOf('debian-handbook', `html/${language}`);
}

const WRITE_AGAIN = `
import re, struct, sys
codec, label, *paths = sys.argv[1:]
for path in paths:
    text = open(path, encoding='utf-8').read()
    text = re.sub(r'^<\\?xml[^>]*>', '', text)
    text = re.sub(r'(<meta[^>]*charset=)[-\\w]+', lambda m: m.group(1) + label, text, flags=re.I)
    written = text.encode(codec, 'xmlcharrefreplace')
    sys.stdout.buffer.write(struct.pack('<I', len(written)) + written)
`;

/** Null where there is no Python. */
export function writtenAgain(paths: readonly string[], { codec, label }: LegacyCharset): Buffer[] | null {
  const { stdout, error, status, stderr } = spawnSync('python3', ['-c', WRITE_AGAIN, codec, label, ...paths], {
    maxBuffer: 1 << 30,
  });
  if (error !== undefined) return null;
  if (status !== 0) throw new Error(stderr.toString());
  const pages: Buffer[] = [];
  for (let at = 0; at < stdout.length; ) {
    const end = at + 4 + stdout.readUInt32LE(at);
    pages.push(stdout.subarray(at + 4, end));
    at = end;
  }
  return pages;
}

export interface LegacyFigures {
  readonly pages: number;
  readonly bytesBeyondAscii: number;
  readonly differences: readonly string[];
}

/** Reads each page as it was and as it was written again. */
export function compareLegacy(
  paths: readonly string[],
  written: readonly Buffer[],
  { label, name }: LegacyCharset,
  declaration: Declaration,
): LegacyFigures {
  const differences: string[] = [];
  let bytesBeyondAscii = 0;
  const header: Header[] = [['Content-Type', declaration === 'header' ? `text/html; charset=${label}` : 'text/html']];
  for (const [i, path] of paths.entries()) {
    const original = seen(readFileSync(path), [['Content-Type', 'text/html; charset=utf-8']]);
    const bytes = declared(written[i] as Buffer, label, declaration);
    const again = seen(bytes, header);
    for (const byte of bytes) if (byte >= 0x80) bytesBeyondAscii++;
    if (again.charset !== name) differences.push(`${path}: read as ${again.charset}`);
    for (const what of ['title', 'text', 'links', 'canonical'] as const) {
      if (again[what] !== original[what])
        differences.push(`${path}: ${what}: ${firstDifference(original[what], again[what])}`);
    }
  }
  return { pages: paths.length, bytesBeyondAscii, differences };
}

const MARKS = { 'utf-16le': Buffer.from([0xff, 0xfe]), 'utf-16be': Buffer.from([0xfe, 0xff]) };

/** UTF-16 can't be declared from within but by its byte order mark (HTML Standard §13.2.3.2). */
function declared(page: Buffer, label: string, declaration: Declaration): Buffer {
  if (label.startsWith('utf-16')) {
    return declaration === 'meta' ? Buffer.concat([MARKS[label as keyof typeof MARKS], page]) : page;
  }
  if (declaration !== 'nothing') return page;
  return Buffer.from(page.toString('latin1').replace(/<meta[^>]*charset=[^>]*>/gi, ''), 'latin1');
}

function seen(bytes: Uint8Array, headers: readonly Header[]) {
  const asked = {
    url: 'http://handbook.test/browse/page.html',
    status: 200,
    headers,
    forms: true,
    productToken: 'testbot',
    challenge: CHALLENGE_TERMS,
  };
  const { charset, title, text, found, canonical }: PageReading = readPage(asked, bytes);
  return {
    charset,
    title,
    text,
    canonical,
    links: found.map(({ href, element, rel }) => `${element} ${href} ${rel}`).join('\n'),
  };
}

function firstDifference(before: string | null, after: string | null): string {
  const [a, b] = [before ?? 'none', after ?? 'none'];
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return `${JSON.stringify(a.slice(at, at + 20))} became ${JSON.stringify(b.slice(at, at + 20))}`;
}
