import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/testing/longest-first.ts';

export default defineConfig({
  test: {
    // A process per file: tests send signals and change the working folder.
    pool: 'forks',
    // Tests wait for servers more than they compute, so two cores take three files at a time.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'service',
          environment: 'node',
          include: ['**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/.*/**', 'web/src/**', 'domain/**'],
          // One embedded PostgreSQL serves the whole run.
          globalSetup: [
            'infra/testing/postgres-server.ts',
            'services/minimal/testing/product-data.ts',
          ],
          // For slow machines: nothing is decided by a time.
          testTimeout: 180_000,
          hookTimeout: 180_000,
          expect: { poll: { timeout: 40_000 } },
        },
      },
      {
        extends: true,
        test: {
          name: 'domain',
          environment: 'node',
          include: ['domain/**/*.test.ts'],
          // Pure: file after file in one process, which has loaded the domain once.
          isolate: false,
          testTimeout: 60_000,
        },
      },
      // The dashboard's own tests, as its own configuration has them.
      'web',
    ],
  },
});
