import { describe, expect, it } from 'vitest';
import { programName } from '../../src/cli/program.js';

describe('hints name the program as it was started', () => {
  it.each([
    ['installed', '/usr/lib/node_modules/.bin/orbweaver', {}, '/home/a', 'orbweaver'],
    ['in a checkout', '/home/a/o/dist/cli/main.js', {}, '/home/a/o', 'node dist/cli/main.js'],
    ['from below it', '/home/a/o/dist/cli/main.js', {}, '/home/a', 'node o/dist/cli/main.js'],
    ['from beside it', '/home/a/o/dist/cli/main.js', {}, '/home/b', 'node /home/a/o/dist/cli/main.js'],
    ['by npm start', '/home/a/o/dist/cli/main.js', { npm_lifecycle_event: 'start' }, '/home/a/o', 'npm start --'],
    [
      'by another npm script',
      '/home/a/o/dist/cli/main.js',
      { npm_lifecycle_event: 'e2e' },
      '/home/a/o',
      'node dist/cli/main.js',
    ],
    ['in a test', '/home/a/o/node_modules/vitest/run.js', {}, '/home/a/o', 'orbweaver'],
  ])('%s', (_, script, environment, folder, name) => {
    expect(programName(script, environment, folder)).toBe(name);
  });
  it('embedded, without a script', () => expect(programName('', {}, '/')).toBe('orbweaver'));
});
