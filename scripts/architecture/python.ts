// Checks the imports of the Python sandbox. No package may import a higher layer.
import type { SourceFile } from './repository.ts';

const ROOT = 'services/runtime/python/';

/** The sandbox's packages, lowest layer first. The programs at the top level may import all of them. */
const PACKAGES = ['wire', 'kernel', 'containment', 'lifecycle', 'pool'];
const PROGRAMS = ['launcher', 'keeper'];
/** Imports with computed names, which rules cannot check. */
const COMPUTED = /\b(?:importlib|__import__)\b/u;

/** Returns a sentence for each import in a Python file that the table does not permit. */
export function pythonViolations({ path, source }: SourceFile): string[] {
  if (!path.startsWith(ROOT) || !path.endsWith('.py')) return [];
  const [folder = '', ...rest] = path.slice(ROOT.length).split('/');
  // Scripts import the SDK, so the SDK imports no other package. The startup hook only starts the keeper.
  const allowed = rest.length === 0 ? [...PACKAGES, ...PROGRAMS] : allowedIn(folder);
  if (allowed === undefined) return [`${path} is in no folder of the sandbox`];
  const ours = [...PACKAGES, ...PROGRAMS, 'sdk', 'warm', '..'];
  const code = codeOf(source);
  const found = importsOf(code, rest.length)
    .filter((name) => ours.includes(name) && !allowed.includes(name))
    .map((name) => `${path} may not import ${name}`);
  if (rest.length > 0 && COMPUTED.test(code)) found.push(`${path} imports a computed path`);
  return found;
}

function allowedIn(folder: string): readonly string[] | undefined {
  if (folder === 'sdk') return [];
  if (folder === 'warm') return ['keeper'];
  const level = PACKAGES.indexOf(folder);
  return level < 0 ? undefined : PACKAGES.slice(0, level + 1);
}

/** Returns the source without strings and comments. */
function codeOf(source: string): string {
  const lexeme =
    /("""|''')(?:\\[\s\S]|(?!\1)[\s\S])*\1|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|#[^\n]*/gu;
  return source.replaceAll(lexeme, '').replaceAll(/\\\n/gu, ' ');
}

/** Returns the first name of each imported module. Returns `..` for a relative import that leaves the sandbox's root or
 *  its package.
 *  @param depth the depth of the file below the root */
function importsOf(code: string, depth: number): string[] {
  const imports = code.matchAll(/(?:^|[;:])[ \t]*import[ \t]+([^\n;]+)/gmu);
  const plain = [...imports].flatMap(([, list = '']) => list.split(','));
  const from = code.matchAll(/(?:^|[;:])[ \t]*from[ \t]*(\.*)[ \t]*([\w.]*)[ \t]*import\b/gmu);
  const named = [...from].map(([, dots = '', name = '']) => {
    return dots === '' || dots.length > depth ? `${dots && '..'}${name}` : '';
  });
  return [...plain, ...named].map((name) => /^(?:\.\.|\w*)/u.exec(name.trim())?.[0] ?? '');
}
