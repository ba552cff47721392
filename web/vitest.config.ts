import { defineConfig } from 'vitest/config';

/** The tested modules are plain TypeScript, so the tests need neither the Svelte compiler nor a DOM. One process runs
 *  all files in sequence. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts'],
    isolate: false,
    testTimeout: 60_000,
    // Runs these tests after the service tests, which use a different number of processes.
    sequence: { groupOrder: 1 },
  },
});
