import { defineConfig } from 'vitest/config';

/** The tested modules are plain TypeScript, so neither the Svelte compiler nor a DOM is loaded. */
export default defineConfig({ test: { include: ['src/**/*.test.ts'], testTimeout: 60_000 } });
