import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/testing/longest-first.ts';

/** Tests that restore what they change in their process. */
const inProcess = [
  'infra/{audit,bus,calendars,git,mqtt,objects,outgoing,postgres}/**/*.test.ts',
  'infra/{secret-stores,secrets,system,testing,updates}/**/*.test.ts',
  'projections/**/*.test.ts',
  'services/{backend,cli,redis,scheduler,shared}/**/*.test.ts',
  'services/runtime/*.test.ts',
  'services/runtime/{environments,logs,samples,sdk,secrets}/**/*.test.ts',
];

const service = {
  environment: 'node',
  // For slow machines: nothing is decided by a time.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 40_000 } },
} as const;

export default defineConfig({
  test: {
    // One process per file, because tests send signals and change the working directory.
    pool: 'forks',
    // Node itself loads the code, as in production, and keeps it compiled: see services/minimal/testing/product-data.ts.
    // vi.mock is not available.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ['scripts/testing/keep-compiled.ts'],
    // Tests wait for servers too: on two cores, three files at a time left a quarter of the time unused.
    maxWorkers: Math.max(availableParallelism() + 2, Math.ceil(availableParallelism() * 1.5)),
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 30_000,
    // When a shared server hangs, every test would wait for its time limit.
    bail: process.env['CI'] === 'true' ? 20 : 0,
    // One embedded PostgreSQL serves the whole run.
    globalSetup: ['infra/testing/postgres-server.ts', 'services/minimal/testing/product-data.ts'],
    projects: [
      {
        extends: true,
        test: {
          ...service,
          name: 'service',
          include: ['**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/.*/**', 'web/src/**', 'domain/**', ...inProcess],
        },
      },
      {
        extends: true,
        test: {
          ...service,
          name: 'in-process',
          include: inProcess,
          exclude: ['**/node_modules/**'],
          // File after file in the same processes, which have loaded the service once.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'domain',
          environment: 'node',
          include: ['domain/**/*.test.ts'],
          // Pure tests: all files run in one process, which loads the domain once.
          isolate: false,
          testTimeout: 60_000,
        },
      },
      // The dashboard's own tests, with the settings of its own configuration.
      'web',
    ],
  },
});
