import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT } from './source.js';

/** `rule: from → to` for each break of the import rules under `baseDir`. */
async function violationsIn(baseDir: string): Promise<string[]> {
  const config = await extractConfig(join(PROJECT, '.dependency-cruiser.cjs'));
  const { output } = await cruise(
    ['src'],
    { ...config.options, ruleSet: config, validate: true, baseDir },
    config.options?.enhancedResolveOptions,
    { tsConfig: extractTsConfig(join(PROJECT, 'tsconfig.json')) },
  );
  return (output as ICruiseResult).summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
}

it('imports point one way, without cycles', async () => {
  expect(await violationsIn(PROJECT)).toEqual([]);
});

describe('each arrow has teeth', () => {
  const planted: Readonly<Record<string, string>> = {
    'src/domain/noun.ts': "import '../policy/rule.js';",
    'src/policy/rule.ts': "import '../protocols/words.js';",
    'src/policy/clock.ts': "import 'node:os';",
    'src/policy/checked.ts': "import 'node:assert/strict';",
    'src/policy/store.ts': "import 'level';",
    'src/protocols/words.ts': "import '../actors/host.js';",
    'src/actors/host.ts': "import '../net/http.js'; import 'nact';",
    'src/actors/first.ts': "import type { B } from './second.js'; export type A = B | 1;",
    'src/actors/second.ts': "import type { A } from './first.js'; export type B = A | 2;",
    'src/supervision/tree.ts': "import '../store/rows.js'; import '../actors/host.js'; import 'nact';",
    'src/net/http.ts': "import '../supervision/tree.js';",
    'src/page/links.ts': "import '../net/http.js';",
    'src/store/rows.ts': "import '../sinks/files.js'; import '../page/links.js';",
    'src/sinks/files.ts': 'export {};',
    'src/sinks/warc.ts': "import '../actors/host.js';",
    'src/config/load.ts': "import '../store/rows.js';",
    'src/practice/server.ts': "import '../domain/noun.js';",
    'src/logs.ts': "import './main.js';",
    'src/admin/desk.ts': 'export {};',
    'src/plugins/content-handler.ts': "import '../domain/noun.js';",
    'src/library/crawler.ts': "import '../cli/main.js';",
    'src/net/dns.ts': "import '../library/crawler.js';",
    'src/store/open.ts': "import '../admin/desk.js';",
    'src/main.ts': "import './supervision/tree.js'; import 'vitest'; import './absent.js'; import '../test/oracle.js';",
    'src/cli/main.ts': "import '../main.js'; import 'nact';",
    'test/oracle.ts': 'export {};',
  };
  let root = '';
  let violations: string[] = [];

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'orbweaver-arrows-'));
    for (const [path, text] of Object.entries(planted)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), `${text}\nexport {};\n`);
    }
    writeFileSync(
      join(root, 'package.json'),
      '{"dependencies": {"nact": "*", "level": "*"}, "devDependencies": {"vitest": "*"}}',
    );
    symlinkSync(join(PROJECT, 'node_modules'), join(root, 'node_modules'), 'dir');
    violations = await violationsIn(root);
  });

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each([
    ['domain-imports-only-domain', 'src/domain/noun.ts → src/policy/rule.ts'],
    ['policy-imports-only-domain-plugins-policy', 'src/policy/rule.ts → src/protocols/words.ts'],
    ['pure-layers-use-no-node', 'src/policy/clock.ts → os'],
    ['pure-layers-use-no-impure-package', 'src/policy/store.ts → .*level.*'],
    ['protocols-imports-only-domain-policy-protocols', 'src/protocols/words.ts → src/actors/host.ts'],
    ['actors-imports-only-domain-plugins-policy-protocols-actors', 'src/actors/host.ts → src/net/http.ts'],
    ['only-supervision-knows-nact', 'src/actors/host.ts → .*nact.*'],
    ['only-supervision-knows-nact', 'src/cli/main.ts → .*nact.*'],
    ['no-cycles', 'src/actors/first.ts → src/actors/second.ts'],
    [
      'supervision-imports-only-domain-policy-protocols-actors-supervision',
      'src/supervision/tree.ts → src/store/rows.ts',
    ],
    ['net-imports-only-domain-policy-protocols-net', 'src/net/http.ts → src/supervision/tree.ts'],
    ['page-imports-only-domain-plugins-policy-protocols-sinks-page', 'src/page/links.ts → src/net/http.ts'],
    ['store-imports-only-domain-policy-protocols-sinks-store', 'src/store/rows.ts → src/page/links.ts'],
    ['sinks-imports-only-domain-policy-protocols-sinks', 'src/sinks/warc.ts → src/actors/host.ts'],
    ['config-imports-only-domain-policy-config', 'src/config/load.ts → src/store/rows.ts'],
    ['practice-imports-only-practice', 'src/practice/server.ts → src/domain/noun.ts'],
    ['nothing-imports-the-top', 'src/logs.ts → src/main.ts'],
    ['the-library-knows-no-command', 'src/library/crawler.ts → src/cli/main.ts'],
    ['nothing-imports-the-top', 'src/net/dns.ts → src/library/crawler.ts'],
    ['nothing-leans-on-admin', 'src/store/open.ts → src/admin/desk.ts'],
    ['src-imports-no-dev-package', 'src/main.ts → .*vitest.*'],
    ['no-unresolved', 'src/main.ts → ./absent.js'],
    ['src-imports-no-test-or-bench', 'src/main.ts → test/oracle.ts'],
  ])('%s: %s', (rule, edge) => {
    expect(violations.filter((line) => new RegExp(`^${rule}: ${edge}$`).test(line))).not.toEqual([]);
  });

  it.each([
    'src/policy/checked.ts → assert/strict',
    'src/supervision/tree.ts → src/actors/host.ts',
    'src/supervision/tree.ts → node_modules/nact/lib/index.js',
    'src/cli/main.ts → src/main.ts',
    'src/store/rows.ts → src/sinks/files.ts',
  ])('lets pass what the layers allow: %s', (edge) => {
    expect(violations.filter((line) => line.endsWith(`: ${edge}`) && !line.startsWith('no-cycles'))).toEqual([]);
  });
});
