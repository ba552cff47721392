/** Manages a runtime's keepers. They are created in the background for scripts that run, and replaced after a number
 *  of runs. Their number and memory are limited. */
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { KeeperProcess, type KeeperOptions, type KeeperOrder } from './keeper-process.ts';
import type { RunSpec } from './sandbox.ts';

const TIDY_EVERY_MS = 30_000;
const MAX_RUNS = 1_000;
const MAX_AGE_MS = 60 * 60_000;
const MAX_IDLE_MS = 10 * 60_000;
// The number of failures after which keeper creation is paused.
const MAX_FAILURES = 3;
const REST_MS = 10 * 60_000;

export interface KeepersOptions extends KeeperOptions {
  /** The maximum number of keepers, or 0 for none. The least recently used keeper is stopped first. */
  readonly maxKeepers: number;
  /** The maximum memory of all keepers together, in bytes. The memory of runs does not count. */
  readonly maxMemoryBytes: number;
  /** A keeper is replaced after this number of runs. Default: 1000. */
  readonly maxRuns?: number;
}

interface Kept {
  readonly order: KeeperOrder;
  readonly process: KeeperProcess;
  readonly startedAtMs: number;
  usedAtMs: number;
  runs: number;
}

interface Failures {
  count: number;
  lastAtMs: number;
}

export class Keepers {
  readonly #options: KeepersOptions;
  /** The keepers, least recently used first. */
  readonly #kept = new Map<string, Kept>();
  readonly #failures = new Map<string, Failures>();
  /** The keys of keepers that are being created. */
  readonly #wanted = new Set<string>();
  readonly #closing = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #making: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: KeepersOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.tidy(), TIDY_EVERY_MS).unref();
  }

  /** Returns the keeper for runs with this specification, if it exists. */
  take(spec: RunSpec): KeeperProcess | undefined {
    const key = keyOf(spec);
    const kept = key === undefined ? undefined : this.#kept.get(key);
    if (key === undefined || kept === undefined) return undefined;
    if (!kept.process.isAlive) {
      this.#remove(key, kept);
      return undefined;
    }
    kept.usedAtMs = performance.now();
    kept.runs += 1;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    if (this.#isWorn(kept)) this.#make(key, kept.order);
    return kept.process;
  }

  /** Creates a keeper for runs with this specification in the background, unless it exists. */
  want(spec: RunSpec): void {
    const [key, order] = [keyOf(spec), orderOf(spec)];
    if (key === undefined || order === undefined || this.#kept.has(key)) return;
    this.#make(key, order);
  }

  /** Stops a keeper that failed to prepare a run. The run is then started without a keeper. */
  failed(spec: RunSpec): void {
    const key = keyOf(spec);
    if (key === undefined) return;
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    this.#failures.set(key, { count, lastAtMs: performance.now() });
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    kept.process.kill();
    this.#remove(key, kept);
  }

  /** Records that the keeper for runs with this specification has prepared a run. */
  succeeded(spec: RunSpec): void {
    const key = keyOf(spec);
    if (key !== undefined) this.#failures.delete(key);
  }

  /** Resolves when all requested keepers have been created or have failed. */
  get made(): Promise<void> {
    return this.#making;
  }

  /** The process IDs of the current keepers. */
  get pids(): readonly number[] {
    return [...this.#kept.values()].flatMap(({ process }) => process.pid ?? []);
  }

  /** The scripts that have a keeper. */
  get scripts(): readonly string[] {
    return [...this.#kept.values()].map(({ order }) => order.scriptId);
  }

  /** Stops a script's keepers. Resolves when the keepers have exited and their prepared files have been removed. */
  async forget(scriptId: string): Promise<void> {
    for (const [key, kept] of this.#kept) {
      if (kept.order.scriptId === scriptId) this.#remove(key, kept);
    }
    await Promise.all(this.#closing);
  }

  /** Stops keepers that are idle or exceed the limits. Never throws. */
  async tidy(): Promise<void> {
    const now = performance.now();
    for (const [key, kept] of this.#kept) {
      if (!kept.process.isAlive || now - kept.usedAtMs > MAX_IDLE_MS) this.#remove(key, kept);
    }
    for (const [key, { lastAtMs }] of this.#failures) {
      if (now - lastAtMs > REST_MS) this.#failures.delete(key);
    }
    let room = this.#options.maxMemoryBytes;
    for (const [key, kept] of [...this.#kept].toReversed()) {
      room -= await memoryOf(kept.process.pid);
      if (room < 0) this.#remove(key, kept);
    }
  }

  /** Stops accepting runs. Resolves when all keepers have exited. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    await this.#making;
    for (const [key, kept] of this.#kept) this.#remove(key, kept);
    await Promise.all(this.#closing);
  }

  /** Creates keepers one at a time to disturb runs as little as possible. */
  #make(key: string, order: KeeperOrder): void {
    const isResting = (this.#failures.get(key)?.count ?? 0) >= MAX_FAILURES;
    if (this.#options.maxKeepers === 0 || this.#wanted.has(key) || isResting) return;
    this.#wanted.add(key);
    this.#making = this.#making
      .then(() => this.#start(key, order))
      .catch((error: unknown) => {
        const count = (this.#failures.get(key)?.count ?? 0) + 1;
        this.#failures.set(key, { count, lastAtMs: performance.now() });
        this.#options.onLog(error instanceof Error ? error.message : String(error));
      })
      .finally(() => this.#wanted.delete(key));
  }

  async #start(key: string, order: KeeperOrder): Promise<void> {
    if (this.#isStopping) return;
    const process = await KeeperProcess.start(order, this.#options);
    const worn = this.#kept.get(key);
    if (worn !== undefined) this.#remove(key, worn);
    const now = performance.now();
    this.#kept.set(key, { order, process, startedAtMs: now, usedAtMs: now, runs: 0 });
    for (const [oldest, kept] of this.#kept) {
      if (this.#kept.size <= this.#options.maxKeepers) break;
      this.#remove(oldest, kept);
    }
    await this.tidy();
  }

  #isWorn({ runs, startedAtMs }: Kept): boolean {
    const { maxRuns = MAX_RUNS } = this.#options;
    return runs >= maxRuns || performance.now() - startedAtMs > MAX_AGE_MS;
  }

  #remove(key: string, kept: Kept): void {
    this.#kept.delete(key);
    const closed = kept.process.close().catch((error: unknown) => {
      this.#options.onLog(`supervisor cleanup is incomplete: ${String(error)}`);
    });
    this.#closing.add(closed);
    void closed.finally(() => this.#closing.delete(closed));
  }
}

function orderOf({ scriptId, argv, warm }: RunSpec): KeeperOrder | undefined {
  const [python, entrypoint = ''] = argv;
  return warm === undefined ? undefined : { scriptId, python, entrypoint, ...warm };
}

function keyOf(spec: RunSpec): string | undefined {
  const order = orderOf(spec);
  return order && JSON.stringify(order);
}

// A keeper with a spare uses about three times the keeper's memory. The spare has three processes, each about two
// thirds the size of the keeper.
const SIZE_WITH_SPARE = 3;

/** Returns the approximate proportional set size of a keeper with its spare. */
async function memoryOf(pid: number | undefined): Promise<number> {
  const [rollup, status] = await Promise.all(
    ['smaps_rollup', 'status'].map((name) =>
      readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => ''),
    ),
  );
  // Only root can read the proportional size of a contained process.
  const size = /^Pss:\s+(\d+)/m.exec(rollup ?? '') ?? /^RssAnon:\s+(\d+)/m.exec(status ?? '');
  return SIZE_WITH_SPARE * 1024 * Number(size?.[1] ?? 0);
}
