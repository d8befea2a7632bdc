/** Reads archive files with warcio, which shares nothing with what wrote them, and checks each digest anew. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { WARCParser } from 'warcio';

export interface ArchivedResponse {
  readonly url: string;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** As it came, with its content coding. */
  readonly payload: Buffer;
}

export interface ArchiveReading {
  /** Records by type. */
  readonly records: Readonly<Record<string, number>>;
  readonly responses: readonly ArchivedResponse[];
  /** What is wrong: a payload that is not what its digest says, a request without its response. */
  readonly faults: readonly string[];
}

export async function readArchive(files: readonly string[]): Promise<ArchiveReading> {
  const records: Record<string, number> = {};
  const responses: ArchivedResponse[] = [];
  const faults: string[] = [];
  const expected = new Set<string>();
  const found = new Set<string>();
  for (const file of files) {
    for await (const record of new WARCParser(createReadStream(file))) {
      const type = record.warcType ?? 'without type';
      records[type] = (records[type] ?? 0) + 1;
      const named = (name: string) => record.warcHeaders.headers.get(name) ?? null;
      const payload = Buffer.from(await record.readFully(false));
      if (type === 'request') expected.add(named('WARC-Concurrent-To') ?? 'nothing');
      if (type !== 'response') continue;
      found.add(named('WARC-Record-ID') ?? 'without id');
      const url = record.warcTargetURI ?? '';
      const digest = `sha1:${base32(createHash('sha1').update(payload).digest())}`;
      if (named('WARC-Payload-Digest') !== digest) faults.push(`${url}: its payload is ${digest}`);
      const headers = new Map(
        [...(record.httpHeaders?.headers ?? [])].map(([name, value]) => [name.toLowerCase(), value] as const),
      );
      responses.push({ url, status: Number(record.httpHeaders?.statusCode), headers, payload });
    }
  }
  for (const id of expected) if (!found.has(id)) faults.push(`a request has no response ${id}`);
  return { records, responses, faults };
}

/** RFC 4648 §6; 20 bytes need no padding. */
function base32(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('');
}
