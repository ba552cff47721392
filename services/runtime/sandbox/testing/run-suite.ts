/** Runs test files as another system user. Does not use the project's configuration, which needs a writable source
 *  folder and a database. */
import { startVitest } from 'vitest/node';

const vitest = await startVitest(process.argv.slice(2), {
  config: false,
  run: true,
  watch: false,
  pool: 'forks',
  maxWorkers: 1,
  // Uses the same options as vitest.config.ts: Node loads the code and caches the compiled code for the next file.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  setupFiles: ['scripts/testing/keep-compiled.ts'],
  testTimeout: 30_000,
  hookTimeout: 60_000,
  include: ['services/runtime/sandbox/*.test.ts'],
  reporters: ['default'],
  cache: false,
});
await vitest.close();
