import { describe, expect, it } from 'vitest';
import { allowedValues, ConfigError, type ConfigSources, loadConfig, variableOf } from '../../src/config/load.js';
import { nearestNames } from '../../src/config/nearest.js';
import { OPTIONS } from '../../src/config/schema.js';

const load = (sources: Partial<ConfigSources>) => loadConfig({ cores: 2, ...sources });

function refusal(sources: Partial<ConfigSources>): ConfigError {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

const file = (text: string, path = 'crawl.yaml') => ({ file: { path, text } });

describe('layers', () => {
  it('nothing given: the documented defaults', () => {
    const { config, origins } = load({});
    expect(config.politeness).toEqual({
      delayMs: 1_000,
      hostDelaysMs: {},
      adaptiveFactor: 10,
      addressDelayMs: 100,
      addressExempt: [],
    });
    expect(config.fetch).toEqual({
      slots: 256,
      timeoutMs: 20_000,
      http2: true,
      bytesMax: 16_777_216,
      headerBytesMax: 65_536,
      socketsMax: 1_024,
      openVisitsMax: 256,
      bodyBudgetBytes: 268_435_456,
    });
    expect(config.retry).toEqual({
      delaysSeconds: [2, 10, 30, 60, 120],
      deliveriesMax: 8,
      budgetShare: 0.2,
      budgetPerHostAndMinute: 30,
      budgetPerMinute: 600,
    });
    expect([config.scope, config.maxDepth, config.waitSeconds, config.tls.ca]).toEqual(['site', null, 30, null]);
    expect(new Set(origins.values())).toEqual(new Set(['default']));
    expect(origins.size).toBe(OPTIONS.size);
  });

  it('a later layer wins: file, then environment, then --set, then a later --set', () => {
    const layers: ConfigSources = {
      cores: 2,
      ...file('fetch:\n  slots: 1\n  timeoutMs: 1000\n  bytesMax: 1000\npoliteness: {delayMs: 5}\n'),
      environment: { ORBWEAVER_FETCH_SLOTS: '2', ORBWEAVER_FETCH_TIMEOUT_MS: '2000', HOME: '/root' },
      assignments: ['fetch.slots=3', 'fetch.slots=4'],
    };
    const { config, origins } = loadConfig(layers);
    expect(config.fetch).toMatchObject({ slots: 4, timeoutMs: 2_000, bytesMax: 1_000 });
    expect(config.politeness.delayMs).toBe(5);
    expect(origins.get('fetch.slots')).toBe('--set fetch.slots=4');
    expect(origins.get('fetch.timeoutMs')).toBe('ORBWEAVER_FETCH_TIMEOUT_MS');
    expect(origins.get('fetch.bytesMax')).toBe('crawl.yaml:4:13');
    expect(origins.get('politeness.delayMs')).toBe('crawl.yaml:5:23');
  });

  it('a value is JSON, or else a string; a text option takes JSON-like text as it stands', () => {
    const set = (...assignments: string[]) => load({ assignments }).config;
    expect(set('guard.allow=["127.0.0.0/8","::1/128"]').guard.allow).toEqual(['127.0.0.0/8', '::1/128']);
    expect(set('dns.hosts={"*.test":"127.0.0.1"}').dns.hosts).toEqual({ '*.test': '127.0.0.1' });
    expect(set('dns.servers=["127.0.0.1:5353","[::1]:53","::1"]').dns.servers).toHaveLength(3);
    expect(set('scope=any').scope).toBe('any');
    expect(set('scope="host"').scope).toBe('host');
    expect(set('maxDepth=3', 'maxDepth=null').maxDepth).toBeNull();
    expect(set('tls.ca=123').tls.ca).toBe('123');
    expect(set('userAgent=ExampleBot/1.0 (+https://bot.example/?a=b)').userAgent).toBe(
      'ExampleBot/1.0 (+https://bot.example/?a=b)',
    );
  });

  it('a file is YAML or JSON; empty files, empty groups and comments set nothing', () => {
    expect(load(file('{\n\t"fetch": {"slots": 7},\n\t"maxDepth": null\n}', 'crawl.json')).config.fetch.slots).toBe(7);
    for (const text of ['', '# nothing\n', 'fetch:\n  # slots: 3\n', '---\n']) {
      expect(load(file(text)).config).toEqual(load({}).config);
    }
    expect(load(file('dns:\n  hosts:\n    "*.test": 127.0.0.1\n')).config.dns.hosts).toEqual({ '*.test': '127.0.0.1' });
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [9, 8],
    [64, 8],
  ])('page.threads follows the cores where nobody sets it: %i → %i', (cores, threads) => {
    expect(load({ cores }).config.page.threads).toBe(threads);
    expect(load({ cores, assignments: ['page.threads=5'] }).config.page.threads).toBe(5);
  });
});

describe('refusals say where, which option, and what would be right', () => {
  it('an unknown option, with the nearest names and what they take', () => {
    const error = refusal({ assignments: ['fetch.slot=3'] });
    expect(error.code).toBe('config_invalid');
    expect(error.where).toBe('--set fetch.slot=3');
    expect(error.key).toBe('fetch.slot');
    expect(error.message).toBe(
      'no option is named fetch.slot; did you mean fetch.slots? fetch.slots takes a whole number from 1 to 4096 (requests)',
    );
    expect(refusal({ assignments: ['delayMs=3'] }).message).toContain('politeness.delayMs');
    expect(refusal({ assignments: ['xyzzy=1'] }).message).toContain('the options are userAgent, scope');
  });

  it('a group given a value, with its options', () => {
    expect(refusal({ assignments: ['robots={"timeoutMs":5000}'] }).message).toBe(
      'robots is a group; its options are robots.timeoutMs, robots.meta',
    );
    expect(refusal(file('robots: 5\n'))).toMatchObject({ where: 'crawl.yaml:1:9', key: 'robots' });
  });

  it('names of every object are no options', () => {
    for (const key of ['__proto__', 'constructor', 'fetch.__proto__', 'toString', 'fetch.constructor.name']) {
      expect(refusal({ assignments: [`${key}=1`] }).message).toContain(`no option is named ${key}`);
    }
    expect(refusal(file('__proto__: {polluted: 1}\n')).message).toContain('no option is named __proto__');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('a variable that belongs to no option', () => {
    const error = refusal({ environment: { ORBWEAVER_FETCH_SLOT: '1' } });
    expect(error.where).toBe('ORBWEAVER_FETCH_SLOT');
    expect(error.message).toContain('ORBWEAVER_FETCH_SLOTS');
  });

  it('a value of the wrong kind, at its place', () => {
    const error = refusal(file('fetch:\n  slots: many\n'));
    expect(error).toMatchObject({ where: 'crawl.yaml:2:10', key: 'fetch.slots' });
    expect(error.message).toBe('fetch.slots takes a whole number from 1 to 4096 (requests); it was given "many"');
    expect(refusal({ assignments: ['scope=world'] }).message).toBe(
      'scope takes "host" or "site" or "any"; it was given "world"',
    );
    expect(refusal({ assignments: ['guard.allow=["10.0.0.0/33"]'] }).message).toContain(
      'an IPv4 network such as 10.0.0.0/8',
    );
    expect(refusal({ assignments: ['userAgent=\u00e9'] }).message).toContain('printable ASCII');
    expect(refusal({ assignments: ['dns.hosts={"A.test":"127.0.0.1"}'] }).key).toBe('dns.hosts');
  });

  it('text that is no YAML, an unknown key, a key given twice, an alias bomb', () => {
    expect(refusal(file('fetch:\n  slots: [1\n')).where).toMatch(/^crawl\.yaml:\d+:\d+$/);
    expect(refusal(file('fetch:\n  slotz: 1\n'))).toMatchObject({ where: 'crawl.yaml:2:3', key: 'fetch.slotz' });
    expect(refusal(file('scope: any\nscope: host\n')).where).toBe('crawl.yaml:2:1');
    expect(refusal(file('- scope\n')).message).toBe('options are written as key: value');
    const bomb = `guard:\n  allow:\n    - &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefg'].map((name, i) => `    - &${name} [${`*${'abcdefg'[i]},`.repeat(9)}]\n`).join('')}`;
    expect(refusal(file(bomb)).key).toBe('guard.allow');
  });

  it.each(['fetch.slots', '=3', ''])('an assignment without key=value: %j', (assignment) => {
    expect(refusal({ assignments: [assignment] }).message).toContain('expected key=value');
  });

  it('a contradiction, blamed on what somebody set', () => {
    expect(load({ assignments: ['fetch.bytesMax=134217728'] }).config.fetch.bytesMax).toBe(134_217_728);
    expect(refusal({ assignments: ['fetch.bytesMax=134217729'] })).toMatchObject({
      where: '--set fetch.bytesMax=134217729',
      key: 'fetch.bytesMax',
    });
    expect(load({ assignments: ['fetch.slots=1024'] }).config.fetch.slots).toBe(1_024);
    expect(refusal({ assignments: ['fetch.slots=1025'] }).key).toBe('fetch.slots');
    expect(load({ assignments: ['egress.hostsMin=16'] }).config.egress.hostsMin).toBe(16);
    expect(refusal({ assignments: ['egress.hostsMin=17'] }).key).toBe('egress.hostsMin');
  });
});

describe('every option', () => {
  const numeric: readonly (readonly [string, number, number, number])[] = [...OPTIONS.values()].flatMap((option) => {
    const bounds = / from (\S+) to (\S+?)( or null)?( \(|$)/.exec(allowedValues(option));
    const whole = allowedValues(option).startsWith('a whole');
    return bounds === null || !/number/.test(allowedValues(option)) || /^(a list|an object)/.test(allowedValues(option))
      ? []
      : [[option.key, Number(bounds[1]), Number(bounds[2]), whole ? 1 : 0.5] as const];
  });

  it.each([...OPTIONS.values()].map((option) => [option.key, option] as const))(
    '%s has a sentence and words for its values',
    (_, option) => {
      expect(option.description).toMatch(/^.{10,}\.$/);
      expect(allowedValues(option)).not.toMatch(/undefined|NaN/);
    },
  );

  it('has a variable of its own', () => {
    expect(variableOf('fetch.timeoutMs')).toBe('ORBWEAVER_FETCH_TIMEOUT_MS');
    expect(new Set([...OPTIONS.keys()].map(variableOf)).size).toBe(OPTIONS.size);
  });

  it('with a number is among those whose bounds are tried', () => {
    expect(numeric.map(([key]) => key)).toHaveLength(41);
  });

  it.each(numeric)('%s holds from %d to %d and not beyond', (key, least, most, step) => {
    const option = OPTIONS.get(key);
    const takes = (value: number) => option?.schema.safeParse(value).success;
    expect([least, most].map(takes)).toEqual([true, true]);
    expect([least - step, most + step].map(takes)).toEqual([false, false]);
  });
});

describe('nearest names', () => {
  it('the same last word first, then fewer edits, three at most, none when nothing is near', () => {
    expect(nearestNames('delayms', ['politeness.delayMs', 'fetch.slots'])).toEqual(['politeness.delayMs']);
    expect(nearestNames('aa.bc', ['aa.bb', 'aa.cc', 'aa.dd', 'aa.bd', 'zz.yyyy'])).toHaveLength(3);
    expect(nearestNames('quite.different', ['scope', 'fetch.slots'])).toEqual([]);
  });
});
