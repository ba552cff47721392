import tailwindcss from '@tailwindcss/vite';
import adapter from '@sveltejs/adapter-static';
import { sveltekit } from '@sveltejs/kit/vite';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';
import { compressed } from './build-support/compressed.ts';
import { withoutInlineScripts } from './build-support/without-inline-scripts.ts';

const backend = process.env['ORCH_BACKEND_URL'] ?? 'http://127.0.0.1:8080';
const proxied = ['/api', '/ws', '/docs', '/openapi.json', '/health', '/livez', '/preview-frame'];

/** Code that pages load only on demand: the router's own chunks, the editor and the charts. */
const separate = /\/(@sveltejs\/kit|@codemirror|@lezer|chart\.js|scripts\/editor|charts\/draw)/;
/** The parts of the editor that are needed for every file. */
const codeEditor =
  /\/(@codemirror\/(?!merge|lsp-client)|@lezer|scripts\/editor\/(code-editor|open-file|shadow-editor))/;

/** The part of the bundler's API that describes a module. */
interface ChunkingContext {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** For each route path, all modules that the route imports statically, directly or indirectly. */
const closures = new Map<readonly string[], ReadonlySet<string>>();

function isLoadedBy(routes: readonly string[], id: string, context: ChunkingContext): boolean {
  let modules = closures.get(routes);
  if (modules === undefined) {
    const found = routes.map((path) => join(import.meta.dirname, 'src/routes', path));
    const known = new Set<string>();
    for (const one of found) {
      if (known.has(one)) continue;
      known.add(one);
      found.push(...(context.getModuleInfo(one)?.importedIds ?? []));
    }
    modules = known;
    closures.set(routes, modules);
  }
  return modules.has(id) && !separate.test(id);
}

const signInPage = ['+layout.svelte', '+error.svelte', 'login/+page.svelte', 'login/+page.ts'];
const firstPage = ['+layout.svelte', '+layout.ts', '+error.svelte', '+page.svelte'].map(
  (name) => `(app)/${name}`,
);
const allPages = globSync('**/+*.{svelte,ts}', { cwd: join(import.meta.dirname, 'src/routes') });

const isCode = (id: string) => !/src\/routes|\.css$/.test(id);

export default defineConfig({
  plugins: [
    tailwindcss(),
    sveltekit({
      adapter: compressed(
        withoutInlineScripts(adapter({ pages: 'build', fallback: 'index.html' }), 'build'),
        'build',
      ),
      // Serves one page for every URL and renders in advance none.
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
                // The router must set its payload before it loads the modules that read it. If these modules were in
                // the same chunk, the build version would be missing, and an error page would reload itself endlessly.
                { name: 'start', test: /client\/payload\.js|vite\/preload-helper/, priority: 4 },
                {
                  debugName: 'sign-in',
                  name: (id, context) => (isLoadedBy(signInPage, id, context) ? 'sign-in' : null),
                  priority: 3,
                },
                // Without this chunk, these modules would be bundled with the editor, and every tab of a script would
                // load the editor.
                {
                  name: 'workbench',
                  test: /scripts\/editor\/(api|drafts\/drafts)\.ts/,
                  priority: 3,
                },
                { name: 'code-editor', test: codeEditor, priority: 1 },
                // Many tiny chunks cost more than loading some unused code (see docs/adr/0038). The first page has its
                // own chunk, because the other pages share more code with each other than with the first page.
                {
                  debugName: 'first-page',
                  name: (id, context) =>
                    isCode(id) && isLoadedBy(firstPage, id, context) ? 'first-page' : null,
                  minShareCount: 2,
                  priority: 2,
                },
                {
                  debugName: 'shared',
                  name: (id, context) =>
                    isCode(id) && isLoadedBy(allPages, id, context) ? 'shared' : null,
                  minShareCount: 3,
                  priority: 1,
                },
                {
                  debugName: 'small',
                  name: (id, context) =>
                    isCode(id) && isLoadedBy(allPages, id, context) ? 'small' : null,
                  minShareCount: 2,
                  maxModuleSize: 4000,
                },
              ],
            },
          },
        },
      },
    },
  },
});
