import tailwindcss from '@tailwindcss/vite';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';
import { withoutInlineScripts } from './build-support/without-inline-scripts.ts';

const backend = process.env['ORCH_BACKEND_URL'] ?? 'http://127.0.0.1:8080';
const proxied = ['/api', '/ws', '/docs', '/openapi.json', '/health', '/livez'];

export default defineConfig({
  plugins: [
    tailwindcss(),
    sveltekit({
      adapter: withoutInlineScripts(
        adapter({ pages: 'build', fallback: 'index.html', precompress: true }),
        'build',
      ),
      // One page for every address: nothing is rendered ahead of time.
      prerender: { entries: [] },
    }),
  ],
  server: {
    proxy: Object.fromEntries(
      proxied.map((path) => [path, { target: backend, ws: path === '/ws', changeOrigin: false }]),
    ),
  },
  build: { chunkSizeWarningLimit: 700 },
});
