/** Installs the projects that the product is compared with, at the versions in peers/package-lock.json. Only the
 *  benchmarks need them, so they are not dependencies of the project. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type pg from 'pg';

const listed = fileURLToPath(new URL('peers/', import.meta.url));
const folder = fileURLToPath(new URL('../../.toolchain/peers/', import.meta.url));
const files = ['package.json', 'package-lock.json'];

/** The part of Emmett's interface that the benchmarks use. */
interface Emmett {
  getPostgreSQLEventStore(
    connectionString: string,
    options: { readonly connectionOptions: { readonly pool: pg.Pool } },
  ): EmmettStore;
}

export interface EmmettStore {
  readonly schema: { migrate(): Promise<unknown> };
  appendToStream(
    streamName: string,
    events: readonly {
      readonly type: string;
      readonly data: unknown;
      readonly metadata: unknown;
    }[],
    options: { readonly expectedStreamVersion: bigint | 'STREAM_DOES_NOT_EXIST' },
  ): Promise<{ readonly nextExpectedStreamVersion: bigint }>;
  close(): Promise<void>;
}

/** The part of graphile-worker's interface that the benchmarks use. */
export interface GraphileWorker {
  run(options: {
    readonly pgPool: pg.Pool;
    readonly concurrency?: number;
    readonly taskList: Readonly<Record<string, (payload: unknown) => void>>;
    readonly noHandleSignals: true;
    readonly logger: unknown;
    readonly preset?: { readonly worker: Readonly<Record<string, unknown>> };
  }): Promise<{ stop(): Promise<void> }>;
  makeWorkerUtils(options: { readonly pgPool: pg.Pool; readonly logger: unknown }): Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: unknown): Promise<unknown>;
    release(): Promise<void>;
  }>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

export function emmett(): Promise<Emmett> {
  return installed('@event-driven-io/emmett-postgresql');
}

export function graphileWorker(): Promise<GraphileWorker> {
  return installed('graphile-worker');
}

/** Returns a silent logger for graphile-worker. */
export function silent({ Logger }: GraphileWorker): unknown {
  return new Logger(() => () => undefined);
}

async function installed<Module>(name: string): Promise<Module> {
  install();
  const path = createRequire(join(folder, 'any.js')).resolve(name);
  return (await import(pathToFileURL(path).href)) as Module;
}

/** @param path the program's path relative to `node_modules` */
export function peerProgram(path: string): string {
  install();
  return join(folder, 'node_modules', path);
}

/** Installs the packages in the lock file, once per version of that file. */
function install(): void {
  const wanted = files.map((file) => readFileSync(join(listed, file), 'utf8')).join('\n');
  const done = join(folder, 'installed');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return;
  console.log('Installing what the product is held against into .toolchain/peers');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of files) cpSync(join(listed, file), join(folder, file));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(done, wanted);
}
