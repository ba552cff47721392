/** Prepares the services' programs once, so that they start in half the time and use half the memory:
 *  - The modules of all programs are merged into a few files. Every separate module would take about 15 KB in each
 *    process.
 *  - Node caches compiled code in a folder. With a complete cache, a process never loads the TypeScript compiler. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Program {
  readonly name: string;
  /** The absolute path of the program's entry point. */
  readonly entry: string;
}

/** The files to start, by the entry points of the programs. */
export type ProgramFiles = ReadonlyMap<string, string>;

/** The content of `merged.json` in a folder of merged programs. */
export interface Merged {
  /** Names of the merged programs, by entry point. */
  readonly programs: Readonly<Record<string, string>>;
  /** The state of each source file, as returned by `stateOf`. */
  readonly sources: Readonly<Record<string, string>>;
  /** Sizes of the other files in the folder, in bytes, for the detection of damaged files. */
  readonly sizes: Readonly<Record<string, number>>;
}

const merger = fileURLToPath(new URL('merge-programs.ts', import.meta.url));

/** Environment variables that make Node cache compiled code. */
export function compileCache(dataDir: string) {
  return {
    NODE_COMPILE_CACHE: join(dataDir, 'cache', 'compiled'),
    // Keeps the cache valid after the data folder is moved or copied.
    NODE_COMPILE_CACHE_PORTABLE: '1',
  };
}

/** Makes all threads of a process share one memory allocator arena, because each arena keeps its own freed memory. */
export const oneArena = { MALLOC_ARENA_MAX: '1' };

/** Returns a fingerprint of the file's state. */
export function stateOf(file: string): string {
  const { mtimeMs, size } = statSync(file);
  return `${mtimeMs} ${size}`;
}

/** Returns the merged programs. The result is empty if a source has changed since the merge, or if a merged file is
 *  damaged. */
export function mergedPrograms(dataDir: string): ProgramFiles {
  const folder = mergedFolder(dataDir);
  try {
    const text = readFileSync(join(folder, 'merged.json'), 'utf8');
    const { programs, sources, sizes } = JSON.parse(text) as Merged;
    if (Object.entries(sources).some(([file, state]) => stateOf(file) !== state)) return new Map();
    if (Object.entries(sizes).some(([name, size]) => statSync(join(folder, name)).size !== size))
      return new Map();
    const files = Object.entries(programs);
    return new Map(files.map(([entry, name]) => [entry, join(folder, `${name}.mjs`)]));
  } catch {
    return new Map(); // First start, damaged list, or missing file.
  }
}

/** Merges the programs again if their source has changed, and compiles the services. If this fails, the services
 *  start from their source and use more memory. */
export async function preparePrograms(
  dataDir: string,
  services: readonly Program[],
  merged: readonly Program[],
  say: (line: string) => void,
): Promise<ProgramFiles> {
  let files = mergedPrograms(dataDir);
  if (!merged.every(({ entry }) => files.has(entry))) {
    const { NODE_COMPILE_CACHE: compiled } = compileCache(dataDir);
    for (const old of [mergedFolder(dataDir), compiled, markOf(compiled)])
      rmSync(old, { recursive: true, force: true });
    const inputs = merged.map(({ name, entry }) => `${name}=${entry}`);
    const isMerged = await succeeds([merger, mergedFolder(dataDir), ...inputs], {});
    if (!isMerged)
      say('The modules of the programs could not be merged; the services take more memory');
    files = mergedPrograms(dataDir);
  }
  await warmUp(
    dataDir,
    services.map(({ entry }) => files.get(entry) ?? entry),
  );
  return files;
}

/** Loads the files once per Node version, so that the services find compiled code in the cache. */
export async function warmUp(dataDir: string, files: readonly string[]): Promise<void> {
  const cache = compileCache(dataDir);
  const mark = markOf(cache.NODE_COMPILE_CACHE);
  if (readText(mark) === process.version) return;
  const loads = files.map((file) => succeeds([file], { ...cache, ORCH_WARM_UP: 'true' }));
  if ((await Promise.all(loads)).every(Boolean)) writeFileSync(mark, process.version);
}

function mergedFolder(dataDir: string): string {
  return join(dataDir, 'cache', 'programs');
}

function markOf(compiled: string): string {
  return `${compiled}-by`;
}

async function succeeds(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<boolean> {
  const env = { PATH: process.env['PATH'], ...variables };
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // The file does not exist before the first start.
  }
}
