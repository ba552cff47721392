// Long because it contains a planted violation of each rule.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  backendViolations,
  contextViolations,
  crowdedFolders,
  MAX_FILES,
  sqlViolations,
} from './architecture/backend.ts';
import { edgesOf, edgesOfSvelte } from './architecture/imports.ts';
import { pythonViolations } from './architecture/python.ts';
import { sourceFiles } from './architecture/repository.ts';
import {
  ambientViolations,
  lengthViolation,
  MAX_LINES,
  violationsOf,
} from './architecture/rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

function violations(path: string, source: string): string[] {
  const edges = path.endsWith('.svelte') ? edgesOfSvelte(source) : edgesOf(source);
  return violationsOf({ path, edges });
}

function backend(path: string, source: string): string[] {
  const module = { path, edges: edgesOf(source) };
  return [...backendViolations(module), ...contextViolations(path, source)];
}

function sql(path: string, source: string): string[] {
  return sqlViolations({ path, edges: edgesOf(source) }, source);
}

describe('this repository', () => {
  const files = sourceFiles(root);

  test('is completely analyzed', () => {
    const here = files.find(({ path }) => path === 'scripts/architecture.test.ts');
    expect(edgesOf(here?.source ?? '').specifiers).toContain('./architecture/rules.ts');
  });

  test('follows the import table, and has neither barrel files nor default exports', () => {
    expect(files.flatMap(({ path, source }) => violations(path, source))).toEqual([]);
  });

  test('follows the import table of the Python sandbox', () => {
    const python = sourceFiles(root, /\.py$/u);
    expect(python.map(({ path }) => path)).toContain('services/runtime/python/launcher.py');
    expect(python.flatMap(pythonViolations)).toEqual([]);
  });

  test('uses no clock, randomness, environment or network in domain', () => {
    expect(files.flatMap(({ path, source }) => ambientViolations(path, source))).toEqual([]);
  });

  test('has a backend that is grouped by resource and imports no higher layers', () => {
    expect(files.flatMap(({ path, source }) => backend(path, source))).toEqual([]);
  });

  test('contains SQL only in the read models and the Postgres adapters', () => {
    expect(files.flatMap(({ path, source }) => sql(path, source))).toEqual([]);
  });

  test('has no folder with too many files in the backend or infra/postgres', () => {
    expect(crowdedFolders(files.map(({ path }) => path))).toEqual([]);
  });

  test('has no long file that does not state the reason', () => {
    expect(files.flatMap(({ path, source }) => lengthViolation(path, source) ?? [])).toEqual([]);
  });
});

describe('the architecture check detects', () => {
  test.each([
    ['domain/run/decide.ts', '#infra/postgres/pool.ts'],
    ['domain/run/decide.ts', '#projections/projection.ts'],
    ['domain/run/decide.ts', '../../infra/postgres/pool.ts'],
    ['domain/run/decide.ts', 'node:crypto'],
    ['domain/run/decide.ts', 'crypto'],
    ['domain/run/decide.ts', 'kysely'],
    ['domain/run/decide.ts', 'typebox-extra'],
    ['domain/run/decide.test.ts', '#infra/objects/folder.ts'],
    ['domain/run/decide.test.ts', 'node:fs'],
    ['projections/runs/apply.ts', '#infra/postgres/pool.ts'],
    ['projections/runs/apply.ts', 'pg'],
    ['projections/runs/apply.ts', 'node:crypto'],
    ['infra/postgres/projector.ts', '#projections/runs/apply.ts'],
    ['infra/postgres/projector.ts', '#services/shared/logger.ts'],
    ['infra/postgres/projector.ts', '../../services/shared/logger.ts'],
    ['services/backend/main.ts', '#services/scheduler/loop.ts'],
    ['services/backend/main.ts', '../scheduler/loop.ts'],
    ['services/backend/main.ts', '../shared/../scheduler/loop.ts'],
    ['services/backend/main.ts', '#services/backend-2/main.ts'],
    ['services/backend/main.ts', '../../scripts/check.ts'],
    ['services/backend/main.ts', '../../web/src/lib/api/schema.d.ts'],
    ['services/minimal/supervisor.ts', '#services/scheduler/start.ts'],
    ['services/minimal/backend/main.ts', '#services/runtime/worker.ts'],
    ['services/shared/config.ts', '#services/backend/config.ts'],
    ['web/src/lib/runs/run.ts', '../../../../domain/run/events.ts'],
    ['web/src/lib/runs/run.ts', '#domain/run/events.ts'],
    ['web/src/lib/runs/run.ts', '#lib/../../../domain/run/events.ts'],
    ['web/src/lib/runs/run.ts', 'node:fs'],
    ['web/src/lib/runs/run.ts', '../../../../services/shared/settings.ts'],
    ['web/src/lib/runs/run.ts', '../../../e2e/testing/seed.ts'],
    ['web/src/lib/runs/run.test.ts', '../../../../services/minimal/testing/product.ts'],
    ['web/vite.config.ts', '../services/minimal/testing/product.ts'],
    ['web/src/lib/api/client.ts', '#lib/ui/format.ts'],
    ['web/src/lib/api/client.ts', '../session/session.svelte.ts'],
    ['web/src/lib/ui/toasts.ts', '#lib/runs/labels.ts'],
    ['web/src/lib/ui/toasts.ts', '#lib/session/session.svelte.ts'],
    ['web/src/lib/session/api.ts', '#lib/people/api.ts'],
    ['web/src/lib/live/feed-cache.ts', '#lib/runs/labels.ts'],
    ['web/src/lib/live/feed-cache.ts', '#lib/schedules/api.ts'],
    ['web/src/lib/webhooks/api.ts', '#lib/runs/api.ts'],
    ['web/src/lib/runs/log/ansi.ts', '../../schedules/labels.ts'],
    ['web/src/lib/runs/api.ts', '../../routes/login/+page.ts'],
    ['web/src/lib/format.ts', '#lib/ui/format.ts'],
    ['web/src/lib/components/card.ts', '#lib/ui/card.svelte'],
    ['elsewhere/file.ts', './other.ts'],
    ['domain/run/decide.ts', '#domain/testing/ids.ts'],
    ['infra/postgres/pool.ts', '#infra/testing/database.ts'],
    ['services/backend/main.ts', './testing/test-backend.ts'],
    ['services/backend/main.ts', './app.test.ts'],
  ])('%s importing %s', (path, specifier) => {
    expect(violations(path, `import { x } from '${specifier}';`)).toHaveLength(1);
  });

  test.each([
    "import '#infra/a.ts';",
    "import type { A } from '#infra/a.ts';",
    "import a from '#infra/a.ts';",
    "import * as a from '#infra/a.ts';",
    "import b, { type A, default as c } from '#infra/a.ts';",
    "import {\n  a, // import 'x'\n  b,\n} from\n  '#infra/a.ts';",
    "export * from '#infra/a.ts';",
    "export * as a from '#infra/a.ts';",
    "export { a } from '#infra/a.ts';",
    "export type { A } from '#infra/a.ts';",
    "const a = await import('#infra/a.ts');",
    'const a = await import(`#infra/a.ts`);',
    "type A = import('#infra/a.ts').A;",
    "const text = `${(await import('#infra/a.ts')).a}`;",
    "const ratio = a / b; const c = import('#infra/a.ts'); // a / b",
    "const quote = /'/; import { a } from '#infra/a.ts'; const other = /'/;",
    "const a = require('#infra/a.ts');",
    "import data from '#infra/a.ts' with { type: 'json' };",
    'const a = import(path);',
    "const a = import('#infra/' + name);",
  ])('a forbidden import in the form %s', (source) => {
    expect(violations('domain/run/decide.ts', source)).toHaveLength(1);
  });

  test.each([
    `<script lang="ts">import { x } from '#domain/run/events.ts';</script><p>don't</p>`,
    `<script module>let a;</script><script lang="ts">\nimport '../../../infra/a.ts';\n</script>`,
    `<p>don't</p>{#await import('../../../domain/a.ts') then a}{a}{/await}`,
  ])('a forbidden import in the component %s', (source) => {
    expect(violations('web/src/lib/runs/run.svelte', source)).toHaveLength(1);
  });

  test.each([
    ['domain/run/a.ts', 'export default function a() {}'],
    ['domain/run/a.ts', 'const a = 1; export { a as default };'],
    ['domain/run/a.ts', "export { default } from './b.ts';"],
    ['domain/run/index.ts', 'export const a = 1;'],
    ['web/src/lib/ui/index.ts', 'export const a = 1;'],
  ])('a default export or a barrel file: %s with %s', (path, source) => {
    expect(violations(path, source)).toHaveLength(1);
  });

  test.each([
    'const now = Date.now();',
    'const now = new Date();',
    'const chance = Math.random();',
    'const started = performance.now();',
    'const id = crypto.randomUUID();',
    "const home = process.env['HOME'];",
    "await fetch('http://example.com');",
    'setTimeout(later, 1_000);',
  ])('nondeterminism in domain: %s', (source) => {
    expect(ambientViolations('domain/run/decide.ts', source)).toHaveLength(1);
    expect(ambientViolations('domain/run/decide.test.ts', source)).toEqual([]);
    expect(ambientViolations('infra/system/clock.ts', source)).toEqual([]);
  });

  test.each([
    ['http/router.ts', '../runs/view.ts'],
    ['http/router.ts', '../access/visibility.ts'],
    ['http/router.ts', '#services/backend/live/description.ts'],
    ['http/wire/send.ts', '../../audit/schema.ts'],
    ['access/sign-in.ts', '../people/view.ts'],
    ['access/sign-in.ts', '../app.ts'],
    ['runs/list.ts', '../scripts/change-script.ts'],
    ['runs/list.ts', '../operations.ts'],
    ['runs/list.ts', '../live/run-hub.ts'],
    ['runs/list.ts', './routes.ts'],
    ['runs/list.ts', './log-routes.ts'],
    ['app.ts', './runs/routes.ts'],
    ['scripts/create-script.ts', './history/routes.ts'],
    ['configuration/kinds/rules.ts', '../../notifications/rule-routes.ts'],
    ['live/run-hub.ts', '../runs/queue-run.ts'],
    ['live/run-hub.ts', '../runs/sample-routes.ts'],
  ])('a forbidden import in the backend: %s importing %s', (path, specifier) => {
    const source = `import { x } from '${specifier}';`;
    expect(backend(`services/backend/${path}`, source)).toHaveLength(1);
    expect(backend(`services/scheduler/${path}`, source)).toEqual([]);
  });

  test('a runtime value in the context of handlers', () => {
    const source = "import { startLoop } from '#services/shared/loop.ts';";
    expect(backend('services/backend/services.ts', source)).toHaveLength(1);
  });

  test.each([
    "import { sql } from 'kysely';",
    "import { statement } from '#projections/statement.ts';",
    "await pool.query('SELECT 1');",
    'await this.#db.query<Row>(text, []);',
    "await readModels.selectFrom('runs').execute();",
    'await sql`SELECT 1`.execute(db);',
    'await sql`SELECT ${one}`.execute(db);',
  ])('SQL outside the SQL folders: %s', (source) => {
    for (const service of ['backend/runs/routes.ts', 'redis/loop.ts', 'shared/params.ts']) {
      expect(sql(`services/${service}`, source)).toHaveLength(1);
    }
    expect(sql('infra/postgres/queue/run-queue.ts', source)).toEqual([]);
  });

  test('a folder with too many files', () => {
    const names = Array.from({ length: MAX_FILES + 1 }, (_, at) => `${at}.ts`);
    const paths = names.map((name) => `infra/postgres/queue/${name}`);
    expect(crowdedFolders(paths.slice(1))).toEqual([]);
    expect(crowdedFolders(paths)).toEqual([expect.stringContaining('21 files')]);
  });

  test.each([
    ['wire/frames.py', 'from kernel import syscalls'],
    ['wire/frames.py', 'import kernel.syscalls'],
    ['wire/frames.py', 'import os, kernel.syscalls as calls'],
    ['kernel/mounts.py', 'from containment.machine import Machine'],
    ['containment/machine.py', 'from lifecycle import init'],
    ['lifecycle/supervisor.py', 'from pool.pool_size import PoolSize'],
    ['pool/pool_size.py', 'import keeper'],
    ['pool/pool_size.py', 'from launcher import main'],
    ['sdk/orchestrator/_http.py', 'from wire import frames'],
    ['warm/encodings/__init__.py', 'import wire'],
    ['wire/frames.py', 'from .. import kernel'],
    ['wire/frames.py', 'from ..kernel import syscalls'],
    ['wire/frames.py', 'def late():\n    from pool import pool_size'],
    ['wire/frames.py', "text = '#'; import pool"],
    ['wire/frames.py', 'import \\\n    pool'],
    ['wire/frames.py', "pool = __import__('pool')"],
    ['wire/frames.py', 'import importlib'],
    ['elsewhere/file.py', 'import os'],
  ])('a forbidden import in the sandbox: %s with %s', (path, source) => {
    expect(pythonViolations({ path: `services/runtime/python/${path}`, source })).toHaveLength(1);
  });

  test('a long file that does not state the reason', () => {
    const long = 'a();\n'.repeat(MAX_LINES);
    expect(lengthViolation('domain/run/a.ts', long)).toBeUndefined();
    expect(lengthViolation('domain/run/a.ts', `b();\n${long}`)).toContain('321 lines');
    expect(lengthViolation('domain/run/a.ts', `// What it does.\n${long}`)).toContain('321 lines');
    const duration = `// How long a run may take.\n${long}`;
    expect(lengthViolation('domain/run/a.ts', duration)).toContain('321 lines');
    expect(lengthViolation('domain/run/a.ts', `// Long because …\n${long}`)).toBeUndefined();
  });
});

describe('the architecture check accepts', () => {
  test.each([
    ['wire/channel.py', 'from .frames import HEADER'],
    ['kernel/mounts.py', 'from wire.run_spec import RunSpec'],
    ['pool/pool_size.py', 'from lifecycle.init import Execute'],
    ['sdk/orchestrator/__init__.py', 'from ._http import call'],
    ['keeper.py', 'import importlib\nfrom pool.fast_exit import FastExit'],
    ['warm/encodings/__init__.py', 'import keeper'],
    ['wire/frames.py', '"""Like this:\nimport pool\n"""'],
    ['wire/frames.py', '# import pool'],
    ['wire/frames.py', 'import pooling'],
  ])('a permitted import in the sandbox: %s with %s', (path, source) => {
    expect(pythonViolations({ path: `services/runtime/python/${path}`, source })).toEqual([]);
  });

  test.each([
    'const date = new Date(0);',
    'run.process.fetch();',
    '// Date.now()',
    "'Math.random'",
  ])('deterministic code in domain: %s', (source) => {
    expect(ambientViolations('domain/run/decide.ts', source)).toEqual([]);
  });

  test.each([
    ['operations.ts', './runs/routes.ts'],
    ['app.ts', './live/web-sockets.ts'],
    ['http/exchange.ts', '../services.ts'],
    ['access/sign-in.ts', '../http/problem.ts'],
    ['runs/list.ts', '../access/visibility.ts'],
    ['runs/list.ts', '../chains/view.ts'],
    ['configuration/schema.ts', '../notifications/rule-schema.ts'],
    ['webhooks/queue-delivery.ts', '../runs/queue-run.ts'],
    ['live/run-hub.ts', '../runs/view.ts'],
    ['runs/runs.test.ts', '../operations.ts'],
  ])('a permitted import in the backend: %s importing %s', (path, specifier) => {
    expect(backend(`services/backend/${path}`, `import { x } from '${specifier}';`)).toEqual([]);
  });

  test.each([
    'const { limit } = call.query;',
    "const sql = text('sql');",
    "// pool.query('SELECT 1')",
    'http.query;',
  ])('code that only looks like SQL outside the SQL folders: %s', (source) => {
    expect(sql('services/backend/runs/routes.ts', source)).toEqual([]);
  });

  test.each([
    ['domain/run/decide.ts', '#domain/kernel/ids.ts'],
    ['domain/run/decide.ts', '../kernel/ids.ts'],
    ['domain/run/events.ts', 'typebox'],
    ['domain/run/events.ts', 'typebox/value'],
    ['domain/run/decide.test.ts', 'fast-check'],
    ['projections/runs/apply.ts', '#domain/run/events.ts'],
    ['projections/runs/apply.ts', 'kysely'],
    ['projections/runs/apply.test.ts', '#infra/testing/postgres.ts'],
    ['infra/postgres/projector.ts', '#projections/projection.ts'],
    ['infra/postgres/projector.ts', 'node:events'],
    ['infra/postgres/projector.ts', 'pg'],
    ['infra/testing/postgres-server.ts', '#projections/runs/table.ts'],
    ['infra/conformance/bus.ts', 'vitest'],
    ['services/backend/main.ts', '#services/shared/config.ts'],
    ['services/backend/main.ts', '#services/backend/runs/routes.ts'],
    ['services/backend/main.ts', './runs/routes.ts'],
    ['services/backend/main.ts', '#projections/runs/queries.ts'],
    ['services/backend/main.test.ts', '#services/runtime/main.ts'],
    ['web/src/lib/runs/run.ts', '#lib/api/schema.d.ts'],
    ['web/src/lib/runs/run.ts', '$app/state'],
    ['web/src/lib/ui/toasts.ts', '#lib/api/api-error.ts'],
    ['web/src/lib/live/feed-cache.ts', '#lib/runs/api.ts'],
    ['web/src/lib/runs/log/ansi.ts', '#lib/scripts/api.ts'],
    ['web/src/routes/+page.svelte', '#lib/runs/api.ts'],
    ['web/vite.config.ts', 'node:path'],
    ['web/e2e/runs.test.ts', '../../services/minimal/testing/product.ts'],
    ['scripts/bench/main.ts', '#services/backend/main.ts'],
  ])('%s importing %s', (path, specifier) => {
    expect(violations(path, `import { x } from '${specifier}';`)).toEqual([]);
  });

  test.each([
    "// import '#infra/a.ts'",
    "/* import '#infra/a.ts' */",
    `const text = "import '#infra/a.ts'";`,
    "const text = `import '#infra/a.ts' ${a} from '#infra/a.ts'`;",
    "const pattern = /import '#infra\\/a.ts'/;",
    "registry.import('#infra/a.ts');",
    "const from = '#infra/a.ts'; export { from };",
    "export type Place = '#infra/a.ts';",
    'const options = { import: 1, default: 2 };',
    'class Archive { import(path: string): void {} }',
  ])('text that only looks like an import: %s', (source) => {
    expect(violations('domain/run/decide.ts', source)).toEqual([]);
  });

  test('a default export in a configuration file', () => {
    expect(violations('web/vite.config.ts', 'export default {};')).toEqual([]);
  });
});
