// The import table of the backend, and the folders that may contain SQL (ARCHITECTURE.md).
import { posix } from 'node:path';
import { isForTests, isTestFile, resolve, type SourceModule } from './rules.ts';
import { tokensOf } from './tokens.ts';

const BACKEND = 'services/backend/';

// Files that other resources may import in addition to `view.ts`, `schema.ts` and `…-schema.ts`, each with its reason.
const PUBLIC_FILES = new Set([
  // Webhook calls queue runs, and may wait for their end.
  'runs/queue-run.ts',
  'runs/wait-for-run.ts',
  // Schedules and chains store parameters of runs.
  'runs/trigger-params.ts',
  // The configuration checks a script as its route does; the first start creates examples.
  'scripts/create-script.ts',
  // Reading files as of a point in time requires the script at that time.
  'scripts/history/script-at.ts',
  // The changes before a failed run include changes to its script.
  'scripts/history/diff.ts',
  // `configuration` parses these resources with the parsers of their routes.
  'schedules/definition.ts',
  'notifications/channel-config.ts',
  'secret-stores/connection.ts',
  'webhooks/credentials.ts',
  // Lists and reads with `?at=` are views of the replay.
  'replay/resource-at.ts',
  // A repository is synced by importing a configuration.
  'configuration/import.ts',
  // Write-back compares scripts, and writes them in the format of a configuration.
  'configuration/compare.ts',
  'configuration/kinds/scripts.ts',
  'configuration/kind.ts',
  'configuration/plan.ts',
  // A new script starts from a template.
  'templates/templates.ts',
]);

/** The violations of the backend's import table in a file, each as a sentence. */
export function backendViolations({ path, edges }: SourceModule): string[] {
  if (!path.startsWith(BACKEND) || isTestFile(path)) return [];
  const importer = path.slice(BACKEND.length);
  return edges.specifiers.flatMap((specifier) => {
    const target = resolve(path, specifier);
    if (target.kind !== 'within' || !target.path.startsWith(BACKEND)) return [];
    if (isForTests(target)) return [];
    return mayImport(importer, target.path.slice(BACKEND.length))
      ? []
      : [`${path} may not import ${specifier}: see scripts/architecture/backend.ts`];
  });
}

function mayImport(importer: string, target: string): boolean {
  if (isRoutes(target)) return importer === 'operations.ts';
  const [from, to] = [folderOf(importer), folderOf(target)];
  if (from === '' || from === to || to === 'http') return true;
  // `services.ts` contains only types (see `contextViolations`). Handlers receive them as their context.
  if (target === 'services.ts') return true;
  if (from === 'http' || to === '' || to === 'live') return false;
  if (to === 'access') return true;
  if (from === 'access') return false;
  if (/^(view|schema|[\w-]+-schema)\.ts$/u.test(posix.basename(target))) return true;
  return from !== 'live' && PUBLIC_FILES.has(target);
}

function isRoutes(path: string): boolean {
  return /(^|[/-])routes\.ts$/u.test(path);
}

// The resource, `http`, `access`, `live` or `static`; '' for the files that compose them.
function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : '';
}

/** Finds imports of values in `services.ts`. Every folder imports this file, so it must contain only types. */
export function contextViolations(path: string, source: string): string[] {
  if (path !== `${BACKEND}services.ts`) return [];
  const tokens = tokensOf(source);
  return tokens.flatMap(({ text }, at) =>
    text === 'import' && tokens[at + 1]?.text !== 'type' ? [`${path} may import types alone`] : [],
  );
}

const QUERY_BUILDERS = new Set(['selectFrom', 'insertInto', 'updateTable', 'deleteFrom']);

/** Modules whose statements read the clock, the session or the availability of the database, but no tables. */
const connectionChecks = new Set([
  'services/shared/database-clock.ts',
  'services/shared/database-health.ts',
]);

/** Statements and query builders outside `projections/` and `infra/`, each as a sentence. */
export function sqlViolations({ path, edges }: SourceModule, source: string): string[] {
  if (!path.startsWith('services/') || isTestFile(path)) return [];
  if (path.includes('/testing/') || connectionChecks.has(path)) return [];
  const builders = edges.specifiers.filter(
    (one) => one === 'kysely' || one.endsWith('projections/statement.ts'),
  );
  const tokens = tokensOf(source);
  const calls = tokens.flatMap(({ kind, text }, at) => {
    const [before, after] = [tokens[at - 1]?.text, tokens[at + 1]];
    if (kind !== 'word' || after?.kind === 'string') return [];
    const isTag = text === 'sql' && (after?.kind === 'template' || after?.text === '`');
    const isCall =
      (before === '.' || before === '?.') && (after?.text === '(' || after?.text === '<');
    return isTag || (isCall && (text === 'query' || QUERY_BUILDERS.has(text))) ? [text] : [];
  });
  return [...builders, ...calls].map(
    (one) => `${path} uses ${one}: SQL belongs to projections/ or infra/postgres/`,
  );
}

/** Maximum number of source files in one folder. */
export const MAX_FILES = 20;

/** Folders of the backend and of `infra/postgres` with too many source files for a quick overview. */
export function crowdedFolders(paths: readonly string[]): string[] {
  const product = paths.filter(
    (path) => /^(services\/backend|infra\/postgres)\//u.test(path) && !isTestFile(path),
  );
  return [...Map.groupBy(product, (path) => posix.dirname(path))]
    .filter(([, files]) => files.length > MAX_FILES)
    .map(([folder, files]) => `${folder} has ${files.length} files; make subfolders`);
}
