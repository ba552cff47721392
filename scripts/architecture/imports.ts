import { tokensOf } from './tokens.ts';
import type { Token } from './tokens.ts';

/** The imports and exports of a module that the rules check. */
export interface ModuleEdges {
  /** The import specifiers as written, in this order: static, re-exported, dynamic, `import type`, `require`. */
  readonly specifiers: readonly string[];
  /** Whether a dynamic import or `require` has a computed path, which rules cannot check. */
  readonly hasComputedImport: boolean;
  readonly hasDefaultExport: boolean;
}

/** Reads the imports and exports of a TypeScript module. */
export function edgesOf(source: string): ModuleEdges {
  const tokens = tokensOf(source);
  const specifiers: string[] = [];
  let hasComputedImport = false;
  let hasDefaultExport = false;
  tokens.forEach((token, at) => {
    if (token.kind !== 'word' || isMember(tokens, at)) return;
    if (token.text === 'import' || token.text === 'require') {
      const called = calledWith(tokens, at);
      if (called?.path !== undefined) specifiers.push(called.path);
      else if (called !== undefined) hasComputedImport = true;
    }
    if (token.text !== 'import' && token.text !== 'export') return;
    const from = specifierOf(tokens, at);
    if (from !== undefined) specifiers.push(from);
    if (token.text === 'export' && exportsDefault(tokens, at)) hasDefaultExport = true;
  });
  return { specifiers, hasComputedImport, hasDefaultExport };
}

/** Reads the imports and exports of a Svelte component. This includes its scripts and the `import(…)` expressions in
 *  its markup. */
export function edgesOfSvelte(source: string): ModuleEdges {
  const script = /<script\b[^>]*>([\s\S]*?)<\/script\s*>/gu;
  const edges = edgesOf([...source.matchAll(script)].map((match) => match[1]).join('\n;\n'));
  const markup = source.replaceAll(script, '').replaceAll(/<!--[\s\S]*?-->/gu, '');
  const inMarkup = [...markup.matchAll(/\bimport\(\s*(['"`])(.*?)\1\s*\)/gu)];
  return {
    ...edges,
    specifiers: [...edges.specifiers, ...inMarkup.map((match) => match[2] ?? '')],
  };
}

// `x.import`, `#import` and `{ import: … }` are names, not imports.
function isMember(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.text === '.' && tokens[at - 2]?.text !== '.';
}

// Parses import('x'), import(`x`) and require('x'). For a computed path, returns `{ path: undefined }`.
function calledWith(
  tokens: readonly Token[],
  at: number,
): { readonly path: string | undefined } | undefined {
  const [open, path, close] = tokens.slice(at + 1, at + 4);
  if (open?.kind !== 'punctuation' || open.text !== '(') return undefined;
  if (tokens[at - 1]?.text === 'function' || isMethod(tokens, at)) return undefined;
  const literal = path?.kind === 'string' || path?.kind === 'template';
  const whole = close?.text === ')' || close?.text === ',';
  return { path: literal && whole ? path.text : undefined };
}

// `{ import(file) { … } }` is a method: a body or a type follows the parameter list.
function isMethod(tokens: readonly Token[], at: number): boolean {
  let depth = 0;
  for (let next = at + 1; next < tokens.length; next += 1) {
    const text = tokens[next]?.kind === 'punctuation' ? tokens[next]?.text : '';
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth === 0) {
      const before = tokens[at - 1]?.text ?? ';';
      const after = tokens[next + 1]?.text;
      return after === '{' || (after === ':' && ['{', '}', ';', ',', 'async'].includes(before));
    }
  }
  return false;
}

// import 'x'; import a, { b as c } from 'x'; import type …; export * as d from 'x'; export { e } from 'x'
function specifierOf(tokens: readonly Token[], at: number): string | undefined {
  const first = tokens[at + 1];
  if (first?.kind === 'string') return tokens[at]?.text === 'import' ? first.text : undefined;
  if (first?.kind === 'word' && DECLARES.has(first.text)) return undefined;
  for (let next = at + 1; next < tokens.length; next += 1) {
    const token = tokens[next];
    if (token?.kind === 'word' && token.text === 'from' && tokens[next + 1]?.kind === 'string') {
      return tokens[next + 1]?.text;
    }
    if (token?.kind === 'punctuation' && !'{},*'.includes(token.text)) return undefined;
  }
  return undefined;
}

// Keywords after `export` that start a declaration, so that the statement cannot be a re-export.
const DECLARES = new Set(
  'const let var function class interface default async abstract'.split(' '),
);

function exportsDefault(tokens: readonly Token[], at: number): boolean {
  if (tokens[at + 1]?.text === 'default') return true;
  if (tokens[at + 1]?.text !== '{') return false;
  const end = tokens.findIndex((token, next) => next > at && token.text === '}');
  return tokens
    .slice(at, end)
    .some((token, next, list) => token.text === 'default' && list[next + 1]?.text !== 'as');
}
