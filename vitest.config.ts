import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Two: end-to-end tests start crawls and webs of their own beside their worker.
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 300_000,
    teardownTimeout: 10_000,
  },
});
