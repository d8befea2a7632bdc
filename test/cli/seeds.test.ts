import { describe, expect, it } from 'vitest';
import { adviceFor, formatLostSeed, SeedFates, seedOf } from '../../src/cli/seeds.js';
import type { HostName } from '../../src/domain/host.js';
import type { Code, OutcomeKind } from '../../src/domain/outcome.js';
import type { CrawlEvent } from '../../src/protocols/events.js';

function visit(url: string, outcome: OutcomeKind, code: Code): CrawlEvent {
  const host = new URL(url).hostname as HostName;
  return { event: 'visit', url, host, outcome, code, status: null, tier: 1, bytes: 0, durationMs: 0 };
}

describe('a seed as it is typed', () => {
  it.each([
    ['example.org', 'http://example.org/'],
    ['example.org:8080/a', 'http://example.org:8080/a'],
    ['localhost', 'http://localhost/'],
    ['localhost:9', 'http://localhost:9/'],
    ['127.0.0.1:9', 'http://127.0.0.1:9/'],
    ['[::1]:9', 'http://[::1]:9/'],
    ['http://intranet/', 'http://intranet/'],
  ])('%s is %s', (text, url) => expect(seedOf(text).url).toBe(url));

  it.each(['notaurl', 'mailto:a', ''])('none: %j', (text) => expect(() => seedOf(text)).toThrow());
});

describe('what became of the seeds', () => {
  const seeds = ['http://a.test/', 'http://10.0.0.1/'].map(seedOf);

  it('all are lost only when the last one is; a failure that is tried again loses none', () => {
    const fates = new SeedFates(seeds);
    expect(fates.areAllLost()).toBe(false);
    fates.hear(visit('http://10.0.0.1/', 'refused', 'guard_refused'));
    fates.hear(visit('http://a.test/other', 'missing', 'http_not_found'));
    fates.hear(visit('http://a.test/', 'failed', 'timeout'));
    expect(fates.lost()).toEqual([{ url: 'http://10.0.0.1/', outcome: 'refused', code: 'guard_refused' }]);
    expect(fates.areAllLost()).toBe(false);
    fates.hear(visit('http://a.test/', 'missing', 'http_not_found'));
    expect(fates.areAllLost()).toBe(true);
  });

  it('the guard is told the address itself, or loopback', () => {
    const lost = (url: string) => adviceFor({ url, outcome: 'refused', code: 'guard_refused' });
    expect(lost('http://10.0.0.1/')).toContain('["10.0.0.1/32"]');
    expect(lost('http://[fd00::1]/')).toContain('["fd00::1/128"]');
    expect(lost('http://a.test/')).toContain('["127.0.0.0/8"]');
  });
});

describe('a seed that redirects to where the crawl may not go', () => {
  it('P6: is lost, with where it leads and why that is refused', () => {
    const fates = new SeedFates([seedOf('http://a.example/')]);
    fates.hear(visit('http://a.example/', 'redirected', 'redirect'));
    expect(fates.areAllLost()).toBe(false);
    const [url, target] = ['http://a.example/', 'http://b.example/'] as const;
    fates.hear({ event: 'redirect_refused', url, target, code: 'out_of_scope' });
    expect(fates.areAllLost()).toBe(true);
    expect(fates.lost().map(formatLostSeed)).toEqual([
      'http://a.example/ redirects to http://b.example/: its host is none of those that the crawl may enter [out_of_scope]',
    ]);
  });
});
