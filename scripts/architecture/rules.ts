// The table of permitted imports. docs/adr/0001-checks.md explains the reasons.
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { DASHBOARD_FOLDERS } from './dashboard.ts';
import type { ModuleEdges } from './imports.ts';
import { tokensOf } from './tokens.ts';

/** A source file. `path` is relative to the repository's root and uses `/`. */
export interface SourceModule {
  readonly path: string;
  readonly edges: ModuleEdges;
}

/** The target of an import specifier. `within` is a file in the repository, with its path relative to the
 *  root. */
type Target =
  | { readonly kind: 'within'; readonly path: string }
  | { readonly kind: 'node' }
  | { readonly kind: 'package'; readonly name: string };

type Rule = (target: Target, importer: string) => boolean;

const TEST_FILE = /\.test\.ts$|(^|\/)(testing|conformance)\//u;
const CONFIG_FILE = /(^|\/)[\w-]+\.config\.[cm]?[jt]s$/u;

const under = (...folders: readonly string[]): Rule => {
  return (target) =>
    target.kind === 'within' &&
    folders.some((folder) => target.path === folder || target.path.startsWith(`${folder}/`));
};
const packages = (...names: readonly string[]): Rule => {
  return (target) => target.kind === 'package' && names.includes(target.name);
};
const anyPackage: Rule = (target) => target.kind === 'package';
const node: Rule = (target) => target.kind === 'node';
const ownService: Rule = (target, importer) => under(serviceOf(importer))(target, importer);

const INFRA = [under('domain', 'projections/projection.ts', 'infra'), anyPackage, node];
const ANYTHING: readonly Rule[] = [() => true];

/** The permitted imports by folder. The first entry whose `where` matches a path applies. */
const TABLE: readonly { readonly where: RegExp; readonly may: readonly Rule[] }[] = [
  {
    where: /^domain\/(.*\.test\.ts$|(.*\/)?testing\/)/u,
    may: [under('domain'), packages('typebox', 'vitest', 'fast-check', 'cron-parser')],
  },
  { where: /^domain\//u, may: [under('domain'), packages('typebox')] },
  ...Array.from(DASHBOARD_FOLDERS, ([folder, may]) => ({
    where: new RegExp(`^${folder}/`, 'u'),
    may: [under(...may), anyPackage],
  })),
  { where: /^web\/src\/(?!lib\/)/u, may: [under('web'), anyPackage] },
  // Browser tests exercise the whole product.
  { where: /^web\/e2e\//u, may: ANYTHING },
  { where: /^web\/(?!src\/)/u, may: [under('web'), anyPackage, node] },
  { where: TEST_FILE, may: ANYTHING },
  { where: /^projections\//u, may: [under('domain', 'projections'), packages('kysely')] },
  { where: /^infra\//u, may: INFRA },
  // In the minimal edition, one process hosts two services.
  {
    where: /^services\/minimal\/backend\//u,
    may: [under('services/backend', 'services/scheduler', 'services/shared')],
  },
  { where: /^services\//u, may: [...INFRA, under('projections', 'services/shared'), ownService] },
  { where: /^scripts\//u, may: ANYTHING },
  { where: /^[^/]+\.config\.ts$/u, may: ANYTHING },
];

/** Returns a sentence for each violation in `module`. */
export function violationsOf({ path, edges }: SourceModule): string[] {
  const found: string[] = [];
  const rules = TABLE.find(({ where }) => where.test(path))?.may;
  if (rules === undefined) return [`${path} is in no folder of the architecture`];
  for (const specifier of edges.specifiers) {
    const target = resolve(path, specifier);
    const isAllowed = rules.some((rule) => rule(target, path));
    if (!isAllowed || (isProduct(path) && isForTests(target)))
      found.push(`${path} may not import ${specifier}`);
  }
  if (edges.hasComputedImport && rules !== ANYTHING) found.push(`${path} imports a computed path`);
  if (edges.hasDefaultExport && !CONFIG_FILE.test(path)) found.push(`${path} has a default export`);
  if (posix.basename(path) === 'index.ts') found.push(`${path} is a barrel`);
  return found;
}

/** Whether `path` is a test or supports tests. */
export function isTestFile(path: string): boolean {
  return TEST_FILE.test(path);
}

// Scripts are not part of the product. The soak test and the benchmarks may import the same code as the product's
// tests.
function isProduct(path: string): boolean {
  return !TEST_FILE.test(path) && !CONFIG_FILE.test(path) && !path.startsWith('scripts/');
}

/** Whether `target` is test-only code. */
export function isForTests(target: Target): boolean {
  return target.kind === 'within' && isTestFile(target.path);
}

/** Sources of nondeterminism, which decisions must not use, because they may be repeated. */
const AMBIENT = new Set([
  'Date.now',
  'Math.random',
  'console',
  'globalThis',
  'performance',
  'crypto',
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
]);

/** Returns a sentence for each use of a clock, randomness, the environment or the network in `domain/`. */
export function ambientViolations(path: string, source: string): string[] {
  if (!path.startsWith('domain/') || TEST_FILE.test(path)) return [];
  const tokens = tokensOf(source);
  const found = tokens.flatMap(({ kind, text }, index) => {
    const [before, after, member] = [index - 1, index + 1, index + 2].map((at) => tokens[at]?.text);
    if (kind !== 'word' || before === '.') return [];
    const isEmpty = after !== '(' || member === ')';
    const isNow = text === 'Date' && before === 'new' && isEmpty;
    const isTaken = text === 'Date' && before === '=' && after !== '.' && after !== '(';
    const name = [text, `${text}${after ?? ''}${member ?? ''}`].find((one) => AMBIENT.has(one));
    // A field or a parameter may have the same name as a global.
    const isField = after === ':' || (after === '?' && member === ':');
    if (isNow) return ['new Date()'];
    if (isTaken) return ['Date'];
    return name === undefined || isField ? [] : [name];
  });
  return found.map((name) => `${path} may not use ${name}`);
}

/** Returns a sentence if a file is too long and its first line does not state the reason. */
export function lengthViolation(path: string, source: string): string | undefined {
  const lines = source.trimEnd().split('\n');
  if (lines.length <= MAX_LINES || path.endsWith('.d.ts')) return undefined;
  const saysWhy = lines
    .slice(0, 3)
    .some((line) => /^\s*(\/\/|\/\*\*?) Long because \S/u.test(line));
  if (saysWhy) return undefined;
  return `${path} has ${lines.length} lines; split it, or begin it with "// Long because …"`;
}

/** The maximum number of lines in a file whose first line states no reason. */
export const MAX_LINES = 320;

/** Resolves an import specifier in the file `importer`. */
export function resolve(importer: string, specifier: string): Target {
  if (isBuiltin(specifier)) return { kind: 'node' };
  // The dashboard is a separate package; this is its only alias.
  if (importer.startsWith('web/') && specifier.startsWith('#lib/')) {
    return { kind: 'within', path: posix.join('web/src', specifier.slice(1)) };
  }
  if (specifier.startsWith('#'))
    return { kind: 'within', path: posix.normalize(specifier.slice(1)) };
  if (specifier.startsWith('.')) {
    return { kind: 'within', path: posix.join(posix.dirname(importer), specifier) };
  }
  const parts = specifier.split('/');
  return { kind: 'package', name: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/') };
}

function serviceOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}
