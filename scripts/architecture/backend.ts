// Checks the imports between the backend's folders, and which folders may contain SQL (ARCHITECTURE.md).
import { posix } from 'node:path';
import { isForTests, isTestFile, resolve, type SourceModule } from './rules.ts';
import { tokensOf } from './tokens.ts';

const BACKEND = 'services/backend/';

// Files that other resources may import, in addition to `view.ts`, `schema.ts` and `…-schema.ts`, with the reasons.
const PUBLIC_FILES = new Set([
  // A webhook call queues a run, and can wait for the run to finish.
  'runs/queue-run.ts',
  'runs/wait-for-run.ts',
  // Schedules and chains store run parameters.
  'runs/trigger-params.ts',
  // Imports of configurations validate scripts as the scripts' routes do. The first start creates example scripts.
  'scripts/create-script.ts',
  // Reading files as of a point in time requires the script as of that time.
  'scripts/history/script-at.ts',
  // A failed run's page lists the preceding changes, including changes to its script.
  'scripts/history/diff.ts',
  // `configuration` parses these resources with the parsers that their routes use.
  'schedules/definition.ts',
  'notifications/channel-config.ts',
  'secret-stores/connection.ts',
  'webhooks/credentials.ts',
  // The replay provides lists and resources requested with `?at=`.
  'replay/resource-at.ts',
  // A repository sync imports a configuration.
  'configuration/import.ts',
  // Write-back compares scripts and writes them in the configuration format.
  'configuration/compare.ts',
  'configuration/kinds/scripts.ts',
  'configuration/kind.ts',
  'configuration/plan.ts',
  // A new script can start from a template.
  'templates/templates.ts',
]);

/** Returns a sentence for each of a file's imports that the backend's import table does not permit. */
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
  // `services.ts` contains only types (see `contextViolations`). Handlers receive these services as their context.
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

// Returns the resource, `http`, `access`, `live` or `static`. Returns '' for the files that combine them.
function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : '';
}

/**
 * Finds runtime values that `services.ts` declares or imports. Every folder imports `services.ts`, so the file must
 * contain only types.
 */
export function contextViolations(path: string, source: string): string[] {
  if (path !== `${BACKEND}services.ts`) return [];
  const tokens = tokensOf(source);
  return tokens.flatMap(({ text }, at) =>
    text === 'import' && tokens[at + 1]?.text !== 'type' ? [`${path} may import types alone`] : [],
  );
}

const QUERY_BUILDERS = new Set(['selectFrom', 'insertInto', 'updateTable', 'deleteFrom']);

/** Modules that may run SQL because their statements read no tables. They check the clock, the session or the
 *  availability of the database. */
const connectionChecks = new Set([
  'services/shared/database-clock.ts',
  'services/shared/database-health.ts',
]);

/** Finds SQL statements and query builders outside `projections/` and `infra/`. Returns a sentence for each. */
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

/** The maximum number of source files in one folder. */
export const MAX_FILES = 20;

/** Finds folders of the backend and of `infra/postgres` that contain too many source files. */
export function crowdedFolders(paths: readonly string[]): string[] {
  const product = paths.filter(
    (path) => /^(services\/backend|infra\/postgres)\//u.test(path) && !isTestFile(path),
  );
  return [...Map.groupBy(product, (path) => posix.dirname(path))]
    .filter(([, files]) => files.length > MAX_FILES)
    .map(([folder, files]) => `${folder} has ${files.length} files; make subfolders`);
}
