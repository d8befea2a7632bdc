import { describe, expect, it } from 'vitest';
import { contactProblem } from '../../src/config/contact.js';

const config = (hosts: Record<string, string> = {}, scope: 'host' | 'site' | 'any' = 'site') => ({
  scope,
  dns: { servers: [], hosts },
});
const anonymous = 'Orbweaver/0.1';

describe('a crawl beyond loopback says who runs it (P: user agent with a contact)', () => {
  it.each([
    'ExampleBot/1.0 (+https://bot.example/)',
    'ExampleBot/1.0 (http://bot.example)',
    'ExampleBot/1.0 (crawler@bot.example)',
    'Mozilla/5.0 (compatible; ExampleBot/1.0; +https://bot.example/about)',
  ])('with a contact it may go anywhere: %s', (userAgent) => {
    expect(contactProblem(userAgent, ['site.com'], config({}, 'any'))).toBeNull();
  });

  it.each([anonymous, 'ExampleBot/1.0 (https://)', 'ExampleBot @ home', 'ExampleBot/1.0 (me@localhost)'])(
    'without one it may not: %s',
    (userAgent) => {
      expect(contactProblem(userAgent, ['site.com'], config())?.advice).toContain('--set userAgent=');
    },
  );

  it.each([
    ['a loopback literal', ['127.0.0.1'], config()],
    ['an IPv6 loopback literal', ['[::1]'], config()],
    ['localhost', ['localhost', 'a.localhost'], config()],
    ['a reserved name with a rule', ['a.test'], config({ 'a.test': '127.0.0.1' })],
    ['a rule for the whole site', ['www.site.com'], config({ '*.site.com': '127.0.0.1' })],
    ['a rule for everything', ['www.site.com'], config({ '*': '127.0.0.1' }, 'any')],
    ['one host by its own rule', ['www.site.com'], config({ 'www.site.com': '127.0.0.1' }, 'host')],
  ])('on this machine it needs none: %s', (_, seeds, given) => {
    expect(contactProblem(anonymous, seeds, given)).toBeNull();
  });

  it.each([
    ['one seed of two', ['127.0.0.1', 'site.com'], config()],
    ['a rule to another machine', ['a.test'], config({ '*.test': '10.0.0.1' })],
    ['a more special rule to another machine', ['a.b.test'], config({ '*': '127.0.0.1', '*.b.test': '10.0.0.1' })],
    ['a site of which only one host has a rule', ['www.site.com'], config({ 'www.site.com': '127.0.0.1' })],
    ['a rule below the site', ['a.www.site.com'], config({ '*.www.site.com': '127.0.0.1' })],
    ['scope any with a rule for some', ['a.test'], config({ '*.test': '127.0.0.1' }, 'any')],
    ['scope any with an exception', ['a.test'], config({ '*': '127.0.0.1', 'b.test': '192.0.2.1' }, 'any')],
    ['a private address', ['10.0.0.1'], config()],
    ['a name that only looks like it', ['127.0.0.1.site.com', 'notlocalhost'], config()],
  ])('elsewhere it does: %s', (_, seeds, given) => {
    expect(contactProblem(anonymous, seeds, given)).not.toBeNull();
  });

  it('names the seed that leads away, or else the scope', () => {
    expect(contactProblem(anonymous, ['127.0.0.1', 'site.com'], config())?.where).toContain('seed site.com');
    expect(contactProblem(anonymous, ['127.0.0.1'], config({}, 'any'))?.where).toContain('scope any');
  });
});
