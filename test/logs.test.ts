import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withoutCredentials } from '../src/domain/credentials.js';
import { openLog } from '../src/logs.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orbweaver-logs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('the log', () => {
  it('is one JSON object a line, there as soon as the call returns, from the level on', () => {
    const file = join(folder, 'a/b/crawl.log');
    const log = openLog({ level: 'info', file });
    log.log('debug', 'unseen', {});
    log.log('info', 'opened', { hosts: 3, clean: true, note: null });
    expect(linesOf(file)).toEqual([
      { level: 'info', time: expect.any(String), event: 'opened', hosts: 3, clean: true, note: null },
    ]);
    log.close();
    log.close();
    log.log('error', 'after the end', {});
    expect(linesOf(file)).toHaveLength(1);
  });

  it('appends to what is there', () => {
    const file = join(folder, 'crawl.log');
    for (const event of ['first', 'second']) {
      const log = openLog({ level: 'debug', file });
      log.log('warn', event, {});
      log.close();
    }
    expect(linesOf(file).map(({ event }) => event)).toEqual(['first', 'second']);
  });

  it('holds no credentials (S3: no secret is printed)', () => {
    const file = join(folder, 'crawl.log');
    const log = openLog({ level: 'debug', file });
    log.log('info', 'at https://ann:s3cret@site.test/', {
      url: 'https://ann:s3cret@site.test/a?b=c@d',
      Authorization: 'Basic s3cret',
      setCookie: 's3cret',
      cookies: null,
    });
    log.close();
    expect(readFileSync(file, 'utf8')).not.toContain('s3cret');
    expect(linesOf(file)[0]).toMatchObject({
      event: 'at https://[redacted]@site.test/',
      url: 'https://[redacted]@site.test/a?b=c@d',
      Authorization: '[redacted]',
      setCookie: '[redacted]',
      cookies: null,
    });
  });

  it.each([
    ['https://site.test/a@b', 'https://site.test/a@b'],
    ['mail me@site.test', 'mail me@site.test'],
    ['https://site.test/?u=a@b', 'https://site.test/?u=a@b'],
    ['http://a:b@c.test and ftp://d@e.test', 'http://[redacted]@c.test and ftp://[redacted]@e.test'],
    ['http://a@b@c.test/', 'http://[redacted]@c.test/'],
  ])('credentials are told from other at signs: %s', (text, clean) => {
    expect(withoutCredentials(text)).toBe(clean);
  });
});
