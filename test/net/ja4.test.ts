/** The handshake of tier 2 is that of the browser which it names: as captured on loopback, by our own reading of it. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Browser } from '../../src/domain/tier.js';
import type { FetchRequest } from '../../src/domain/fetching.js';
import { guardRules } from '../../src/net/guard.js';
import { createImpersonator } from '../../src/net/impersonator.js';
import { type ClientHello, isGrease, ja4Of, listenForHellos } from '../support/client-hello.js';
import { listenForHttp2, shortForm } from '../support/http2-opening.js';
import { authority } from './identity.js';

const trial = authority();
afterAll(() => trial.remove());

async function impersonate(browser: Browser, port: number): Promise<void> {
  const opened = await createImpersonator({
    browser,
    from: null,
    guard: guardRules(['127.0.0.1']),
    caFile: trial.caFile,
    clock: { monotonicMs: () => performance.now() },
    bodyBudgetBytes: 1024 * 1024,
  });
  if (opened.kind === 'unavailable') throw new Error(opened.why);
  const origin = `https://site.test:${port}`;
  const request: FetchRequest = {
    url: `${origin}/`,
    tier: 2,
    origin,
    address: { address: '127.0.0.1', family: 4 },
    headers: [],
    deadlineMs: 5000,
    bodyBytesMax: 1024,
    headerBytesMax: 1024,
    cutAtBound: false,
  };
  await opened.impersonator.fetch(request, new AbortController().signal);
  await opened.impersonator.close();
}

async function helloOf(browser: Browser): Promise<ClientHello> {
  const listener = await listenForHellos();
  const [hello] = await Promise.all([listener.next(), impersonate(browser, listener.port)]);
  await listener.stop();
  return hello;
}

describe('JA4, by the examples of its description', () => {
  const extensionsOf = (...types: number[]) => types.map((type) => ({ type, data: Buffer.alloc(0) }));
  const example: ClientHello = {
    legacyVersion: 0x0303,
    ciphers: [
      0x2a2a, 0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013, 0xc014, 0x009c, 0x009d,
      0x002f, 0x0035,
    ],
    extensions: extensionsOf(
      0x4a4a,
      0x001b,
      0x0000,
      0x0033,
      0x0010,
      0x4469,
      0x0017,
      0x002d,
      0x000d,
      0x0005,
      0x0023,
      0x0012,
      0x002b,
      0xff01,
      0x000b,
      0x000a,
      0x0015,
      0x5a5a,
    ),
    serverName: 'site.test',
    alpn: ['h2', 'http/1.1'],
    groups: [],
    keyShares: [],
    signatureAlgorithms: [0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601],
    versions: [0x6a6a, 0x0304, 0x0303],
    certificateCompressions: [],
  };

  it('is t13d1516h2_8daaf6152771_e5627efa2ab1', () => {
    expect(ja4Of(example)).toBe('t13d1516h2_8daaf6152771_e5627efa2ab1');
  });

  it('does not know in which order ciphers and extensions came, and knows that of signature algorithms', () => {
    const turned = { ...example, ciphers: example.ciphers.toReversed(), extensions: example.extensions.toReversed() };
    expect(ja4Of(turned)).toBe(ja4Of(example));
    const signatureAlgorithms = example.signatureAlgorithms.toReversed();
    expect(ja4Of({ ...example, signatureAlgorithms })).not.toBe(ja4Of(example));
  });

  it.each<[string, Partial<ClientHello>, RegExp]>([
    ['no name, no protocol', { serverName: null, alpn: [] }, /^t13i151600_/],
    ['no versions extension', { versions: [] }, /^t12d/],
    ['no signature algorithms', { signatureAlgorithms: [] }, /_8daaf6152771_/],
    [
      'nothing at all',
      { ciphers: [], extensions: [], signatureAlgorithms: [] },
      /^t13d0000h2_000000000000_000000000000$/,
    ],
    ['a protocol of odd characters', { alpn: ['\xab\xcd'] }, /^t13d1516ad_/],
  ])('with %s', (_title, change, pattern) => {
    expect(ja4Of({ ...example, ...change })).toMatch(pattern);
  });
});

describe('tier 2', () => {
  it.each<[Browser, string]>([
    ['chrome142', 't13d1516h2_8daaf6152771_d8a2da3f94cd'],
    ['chrome151', 't13d1516h2_8daaf6152771_806a8c22fdea'],
  ])('shakes hands as %s: %s', async (browser, ja4) => {
    const hellos = [await helloOf(browser), await helloOf(browser)];
    expect(hellos.map(ja4Of)).toEqual([ja4, ja4]);
    // What a browser of this family does beside it, and a plain TLS library does not.
    for (const hello of hellos) {
      expect(isGrease(hello.ciphers[0] ?? 0)).toBe(true);
      expect(hello.serverName).toBe('site.test');
      expect(hello.groups).toContain(0x11ec);
    }
  });

  // The browser shuffles all of them: whoever looks at their order, as JA4 does not, can tell.
  it('shuffles three of its extensions, and these alone', async () => {
    const orders: string[] = [];
    for (let i = 0; i < 24; i++) {
      const { extensions } = await helloOf('chrome151');
      orders.push(
        extensions
          .map(({ type }) => type)
          .filter((it) => !isGrease(it))
          .join(' '),
      );
    }
    const shuffled = orders.map((order) => order.split(' ').slice(0, 3));
    expect(new Set(orders).size).toBeGreaterThan(1);
    for (const three of shuffled) expect(three.toSorted()).toEqual(['11', '17613', '65281']);
    expect(new Set(orders.map((order) => order.split(' ').slice(3).join(' '))).size).toBe(1);
  });

  // The browser's own opening is 1:65536;2:0;4:6291456;6:262144: the client differs there, and a new version may not.
  it('and opens HTTP/2 so', async () => {
    const listener = await listenForHttp2(trial.issue('DNS:site.test'));
    const [opening] = await Promise.all([listener.next(), impersonate('chrome151', listener.port)]);
    await listener.stop();
    expect(shortForm(opening)).toBe('2:0;4:6291456;5:16384;6:262144|15663105|0|m,a,s,p');
    expect(opening.fields.slice(4, 8)).toEqual([
      'sec-ch-ua',
      'sec-ch-ua-mobile',
      'sec-ch-ua-platform',
      'upgrade-insecure-requests',
    ]);
  });
});
