import tailwindcss from '@tailwindcss/vite';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';
import { withoutInlineScripts } from './build-support/without-inline-scripts.ts';

const backend = process.env['ORCH_BACKEND_URL'] ?? 'http://127.0.0.1:8080';
const proxied = ['/api', '/ws', '/docs', '/openapi.json', '/health', '/livez'];

/** The code of the sign-in page. Everything else loads after the sign-in. */
const signIn = new RegExp(
  [
    'node_modules/(mode-watcher|clsx|tailwind-merge|openapi-fetch)/',
    'lucide/svelte/dist/Icon',
    'src/lib/(session/(session|login-form)|shell/(logo|theme-switch|offline-banner)|preferences)',
    'src/lib/ui/(button|classes|clock|format|empty-state|forms/(field|input)|pages/error-page)',
  ].join('|'),
);
/** Code that pages load only when they use it: the router's own chunks and the editor. */
const separate = /\/(@sveltejs\/kit|@codemirror|@lezer|scripts\/editor)\//;

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
  environments: {
    client: {
      build: {
        rolldownOptions: {
          output: {
            codeSplitting: {
              groups: [
                { name: 'svelte', test: /\/node_modules\/(svelte|esm-env)\//, priority: 3 },
                { name: 'sign-in', test: signIn, priority: 2 },
                // Without this group, each module that pages share would be a request of its own.
                {
                  name: 'shared',
                  test: (id) => !separate.test(id),
                  minShareCount: 2,
                  entriesAware: true,
                  entriesAwareMergeThreshold: 40_000,
                },
              ],
            },
          },
        },
      },
    },
  },
});
