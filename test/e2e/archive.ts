/** Reads archive files with warcio, which shares nothing with what wrote them, and checks each digest anew. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { WARCParser } from 'warcio';

export interface ArchivedResponse {
  readonly url: string;
  /** A revisit has the payload of the response that it refers to. */
  readonly type: 'response' | 'revisit';
  readonly id: string;
  /** Of a revisit: the last part of its profile. */
  readonly profile: string | null;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** As it came, with its content coding. */
  readonly payload: Buffer;
}

export interface ArchiveReading {
  /** Records by type. */
  readonly records: Readonly<Record<string, number>>;
  readonly responses: readonly ArchivedResponse[];
  /** What is wrong: a payload that is not what its digest says, a request or a revisit without its response. */
  readonly faults: readonly string[];
}

export async function readArchive(files: readonly string[]): Promise<ArchiveReading> {
  const records: Record<string, number> = {};
  const responses: ArchivedResponse[] = [];
  const faults: string[] = [];
  const expected = new Set<string>();
  const found = new Map<string, Buffer>();
  for (const file of files) {
    for await (const record of new WARCParser(createReadStream(file))) {
      const type = record.warcType ?? 'without type';
      records[type] = (records[type] ?? 0) + 1;
      const named = (name: string) => record.warcHeaders.headers.get(name) ?? null;
      const payload = Buffer.from(await record.readFully(false));
      if (type === 'request' || type === 'metadata') expected.add(named('WARC-Concurrent-To') ?? 'nothing');
      if (type !== 'response' && type !== 'revisit') continue;
      const url = record.warcTargetURI ?? '';
      const id = named('WARC-Record-ID') ?? 'without id';
      const profile = type === 'revisit' ? (named('WARC-Profile')?.replace(/^.*\/revisit\//, '') ?? '') : null;
      const whole = profile === null ? payload : found.get(named('WARC-Refers-To') ?? '');
      if (whole === undefined) {
        faults.push(`${url}: a revisit of ${named('WARC-Refers-To')}, which is not there`);
        continue;
      }
      found.set(id, whole);
      if (profile !== null && payload.length > 0) faults.push(`${url}: a revisit with a payload`);
      if ((profile === 'identical-payload-digest') !== (named('WARC-Truncated') === 'length'))
        faults.push(`${url}: it does not say rightly whether its block is shortened`);
      const digest = digestOf(whole);
      if (named('WARC-Payload-Digest') !== digest) faults.push(`${url}: its payload is ${digest}`);
      const headers = new Map(
        [...(record.httpHeaders?.headers ?? [])].map(([name, value]) => [name.toLowerCase(), value] as const),
      );
      responses.push({
        url,
        type,
        id,
        profile,
        status: Number(record.httpHeaders?.statusCode),
        headers,
        payload: whole,
      });
    }
  }
  for (const id of expected) if (!found.has(id)) faults.push(`a request or metadata has no response ${id}`);
  return { records, responses, faults };
}

export function digestOf(bytes: Uint8Array): string {
  return `sha1:${base32(createHash('sha1').update(bytes).digest())}`;
}

/** RFC 4648 §6; 20 bytes need no padding. */
function base32(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('');
}
