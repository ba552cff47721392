import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// One embedded PostgreSQL serves the whole run.
const postgresServer = fileURLToPath(new URL('infra/testing/postgres-server.ts', import.meta.url));

export default defineConfig({
  test: {
    environment: 'node',
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/.*/**', 'web/**'],
    globalSetup: existsSync(postgresServer) ? [postgresServer] : [],
    // A process per file: tests send signals and change the working folder.
    pool: 'forks',
    // Tests wait for servers more than they compute, so two cores take three files at a time.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
