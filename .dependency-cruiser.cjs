/**
 * Which way imports may point. One rule an arrow; `test/style/arrows.test.ts` plants a break of each and wants it seen.
 *
 *     domain ← policy ← protocols ← actors ← supervision ← main, index, cli
 *     plugins ← policy, actors, page, main (types only: what plug-ins are written against)
 *     domain, policy, protocols ← adapters (net, sinks ← page, sinks ← store)
 *
 * Type imports count: a type that leaks is a dependency too.
 */
const PURE = '^src/(domain|policy|protocols|actors)/';
const ADAPTER = 'An adapter serves a port; it knows neither its users nor other adapters.';

/** `from` may import, of our own files, only what lies in `folders`. */
const only = (from, folders, comment) => ({
  name: `${from}-imports-only-${folders.join('-')}`,
  comment,
  severity: 'error',
  from: { path: `^src/${from}/` },
  to: { path: '^src/', pathNot: `^src/(${folders.join('|')})/` },
});

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'A cycle has no layer. Move what both need to the lower one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      comment: 'An import that resolves to nothing escapes every rule below.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    only('domain', ['domain'], 'Nouns know nothing but nouns.'),
    only('plugins', ['plugins'], 'What plug-ins are written against: it stands alone, so that nothing of ours leaks to them.'),
    only('policy', ['domain', 'plugins', 'policy'], 'A decision is a function of nouns, time and chance.'),
    only('protocols', ['domain', 'policy', 'protocols'], 'What may be said does not depend on who says it.'),
    only('actors', ['domain', 'plugins', 'policy', 'protocols', 'actors'], 'Actors return effects as data and perform none.'),
    only(
      'supervision',
      ['domain', 'policy', 'protocols', 'actors', 'supervision'],
      'The tree gets its adapters as ports.',
    ),
    only('net', ['domain', 'policy', 'protocols', 'net'], ADAPTER),
    only('sinks', ['domain', 'policy', 'protocols', 'sinks'], ADAPTER),
    // Archive records are made where the body is, and files get their length in the commit that the store writes.
    only('page', ['domain', 'plugins', 'policy', 'protocols', 'sinks', 'page'], ADAPTER),
    only('store', ['domain', 'policy', 'protocols', 'sinks', 'store'], ADAPTER),
    only('sidecar', ['domain', 'policy', 'protocols', 'net', 'sidecar'], 'A service of its own, beside the crawl: it shares the guard with it.'),
    only('config', ['domain', 'policy', 'config'], 'Configuration is text turned into data.'),
    only('why', ['domain', 'plugins', 'policy', 'protocols', 'config', 'page', 'why'], 'Facts become sentences: no store, no clock.'),
    only('practice', ['practice'], 'The practice web judges the engine: it must share no code with it.'),
    {
      name: 'pure-layers-use-no-node',
      comment: 'Domain, policy, protocols and actors run in simulated time too: no node module but assert.',
      severity: 'error',
      from: { path: PURE },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?assert(/strict)?$' },
    },
    {
      name: 'pure-layers-use-no-impure-package',
      comment: 'Packages that do I/O, log or schedule belong in adapters.',
      severity: 'error',
      from: { path: PURE },
      to: { path: 'node_modules/(undici|level|classic-level|abstract-level|pino|commander|nact)/' },
    },
    {
      name: 'only-supervision-knows-nact',
      comment: 'The actor library stands behind the kernel in src/supervision.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/supervision/' },
      to: { path: 'node_modules/nact/' },
    },
    {
      name: 'nothing-imports-the-top',
      comment: 'The composition root, the public API and the commands are imported by nobody below.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli/|sim/|library/|main\\.ts$|index\\.ts$)' },
      to: { path: '^src/(cli/|library/|main\\.ts$|index\\.ts$)' },
    },
    {
      name: 'the-library-knows-no-command',
      comment: 'An embedded crawl prints nothing and ends no process.',
      severity: 'error',
      from: { path: '^src/(library/|index\\.ts$)' },
      to: { path: '^src/(cli/|sim/|practice/)' },
    },
    {
      name: 'nothing-leans-on-admin',
      comment: 'The control interface looks on: the crawl must be whole without it.',
      severity: 'error',
      from: { path: '^src/(domain|policy|protocols|actors|supervision|net|page|store|sinks|config)/' },
      to: { path: '^src/admin/' },
    },
    {
      name: 'src-imports-no-test-or-bench',
      comment: 'What ships stands alone.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'src-imports-no-dev-package',
      comment: 'A user installs dependencies only.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
