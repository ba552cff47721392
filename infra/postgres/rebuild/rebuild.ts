/** Rebuilds a projection's rows in shadow tables while the service runs, then swaps the tables
 *  (docs/adr/0006-projections-are-rebuilt-beside.md). */
import type { Recorded } from '#domain/aggregates.ts';
import { isAfter, startOfStore, type Position } from '#domain/kernel/event.ts';
import {
  applyAll,
  fillOf,
  type Fill,
  type Projection,
  type ReadModels,
} from '#projections/projection.ts';
import type pg from 'pg';
import { sqlState } from '../connection.ts';
import { inTransactionOf, queryBuilderOn } from '../database.ts';
import { newestPlace, nextChunk, readContinued } from '../event-store/event-chunks.ts';
import { readTypes } from '../event-store/event-store.ts';
import { holdCheckpoint, setCheckpoint } from '../readers/checkpoints.ts';
import { compareTables, type TableComparison } from './compare-tables.ts';
import { replaceVersion } from './projection-versions.ts';
import { makeShadow, switchToShadow } from './shadow-tables.ts';

const batchSize = 2_000;
/** The number of events per set-based step. An open transaction blocks every reader of the event store, so each step
 *  must be short. */
const chunkSize = 20_000;
/** While the switch waits for locks, it blocks other transactions. */
const lockTimeoutMs = 500;
const switchAttempts = 40;
const losses: ReadonlySet<string | undefined> = new Set(['55P03', '40P01']); // lock timeout; deadlock

export interface RebuildProgress {
  /** The global positions of the last event applied to the new rows, and of the newest event. */
  readonly position: number;
  readonly newest: number;
}

export interface RebuildReport {
  readonly tables: readonly TableComparison[];
  /** The number of events that were not yet applied to the new rows during the comparison. They may explain
   *  differences. */
  readonly behind: number;
}

export interface RebuildOptions {
  /** Connections as the schema's owner. */
  readonly pool: pg.Pool;
  readonly projection: Projection;
  /** Whether the projection's rows are written in the append's transaction or by the projector. */
  readonly kind: 'inline' | 'async';
  /** The maximum number of events per set-based step. Default: 20,000. */
  readonly chunkSize?: number;
  /** Called after every step. The next step starts when the returned promise resolves. */
  readonly onProgress?: (progress: RebuildProgress) => void | Promise<void>;
  /** Aborts the rebuild between two steps. */
  readonly signal?: AbortSignal;
}

/** Rebuilds a projection. Nothing changes before the final switch, so an interruption is harmless. The next attempt
 *  starts from the beginning.
 *  @throws Error if another rebuild of the projection is running, or if the switch cannot acquire its locks */
export async function rebuildProjection(options: RebuildOptions): Promise<RebuildReport> {
  const client = await options.pool.connect();
  try {
    return await new Rebuild(client, options).run();
  } finally {
    // The server may be slow to detect a lost connection, and the next rebuild must not wait for that.
    await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    client.release(true); // do not reuse the connection, because its search path was changed
  }
}

class Rebuild {
  readonly #client: pg.PoolClient;
  readonly #options: RebuildOptions;
  readonly #projection: Projection;
  readonly #db: ReadModels;
  readonly #schema: string;
  #cursor: Position = startOfStore;

  constructor(client: pg.PoolClient, options: RebuildOptions) {
    this.#client = client;
    this.#options = options;
    this.#projection = options.projection;
    this.#db = queryBuilderOn<never>(client) as unknown as ReadModels;
    this.#schema = `rebuild_${options.projection.name}`;
  }

  async run(): Promise<RebuildReport> {
    await this.#begin();
    await this.#fill();
    await this.#catchUp();
    await this.#eachTable((table) => this.#client.query(`ANALYZE ${this.#schema}.${table}`));
    await this.#catchUp();
    const report = await this.#compare();
    await this.#switch();
    return report;
  }

  async #begin(): Promise<void> {
    const { rows } = await this.#client.query<{ mine: boolean }>(
      'SELECT pg_try_advisory_lock(hashtext($1)) AS mine',
      [this.#schema],
    );
    if (rows[0]?.mine !== true) {
      throw new Error(`${this.#projection.name} is being rebuilt by another process`);
    }
    await this.#client.query('SET synchronous_commit = off');
    await inTransactionOf(this.#client, async () => {
      await this.#client.query(`DROP SCHEMA IF EXISTS ${this.#schema} CASCADE`);
      await this.#client.query(`CREATE SCHEMA ${this.#schema}`);
      await this.#eachTable((table) => makeShadow(this.#client, this.#schema, table));
    });
    // From now on, the projection writes to the copies, because they hide the original tables.
    await this.#client.query(`SET search_path = ${this.#schema}, public`);
  }

  /** Fills the copies with set-based statements if the projection supports them. */
  async #fill(): Promise<void> {
    const fill = fillOf(this.#projection);
    if (fill === undefined) return;
    for (;;) {
      this.#options.signal?.throwIfAborted();
      const size = this.#options.chunkSize ?? chunkSize;
      const chunk = await nextChunk(this.#client, this.#cursor, size);
      if (chunk === undefined) return;
      await inTransactionOf(this.#client, () => this.#fillChunk(fill, chunk.end));
      this.#cursor = chunk.end;
      await this.#tell();
    }
  }

  async #fillChunk(fill: Fill, end: Position): Promise<void> {
    await fill.run(this.#db, this.#cursor, end);
    if (fill.covers === 'every event') return;
    const { handles } = this.#projection;
    const left = await readContinued(this.#client, this.#cursor, end, handles);
    await applyAll([this.#projection], this.#db, left as readonly Recorded[]);
  }

  /** Applies all events up to the position where their order is final. */
  async #catchUp(): Promise<void> {
    for (let size = batchSize; size === batchSize;) {
      this.#options.signal?.throwIfAborted();
      size = await inTransactionOf(this.#client, () => this.#applyBatch(false));
      await this.#tell();
    }
  }

  async #applyBatch(unsettled: boolean): Promise<number> {
    const { handles: types } = this.#projection;
    const events = (await readTypes(this.#client, this.#cursor, {
      types,
      limit: batchSize,
      unsettled,
    })) as readonly Recorded[];
    await applyAll([this.#projection], this.#db, events);
    this.#cursor = events.at(-1)?.position ?? this.#cursor;
    return events.length;
  }

  async #compare(): Promise<RebuildReport> {
    const { kept = [], tables, handles } = this.#projection;
    return await inTransactionOf(this.#client, async () => {
      await this.#client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const found: TableComparison[] = [];
      for (const table of tables) {
        found.push(await compareTables(this.#client, this.#schema, table, kept));
      }
      const unseen = { types: handles, limit: batchSize, unsettled: true };
      const behind = (await readTypes(this.#client, this.#cursor, unseen)).length;
      return { tables: found, behind };
    });
  }

  async #switch(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const before = this.#cursor;
      try {
        return await inTransactionOf(this.#client, () => this.#switchNow());
      } catch (error) {
        if (!losses.has(sqlState(error)) || attempt === switchAttempts) throw error;
        this.#cursor = before;
        await this.#catchUp();
      }
    }
  }

  /** Locks the tables exclusively. Earlier writers have committed, so all their events are visible. Later writers wait
   *  and then use the new tables. */
  async #switchNow(): Promise<void> {
    const { name, tables, kept = [], version } = this.#projection;
    const { kind } = this.#options;
    await this.#client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    const seen = kind === 'async' ? await holdCheckpoint(this.#client, name) : startOfStore;
    const names = tables.map((table) => `public.${table}`).join(', ');
    await this.#client.query(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
    while ((await this.#applyBatch(kind === 'inline')) === batchSize);
    await this.#eachTable((table) => switchToShadow(this.#client, this.#schema, table, kept));
    await replaceVersion(this.#client, this.#projection);
    if (kind === 'async') {
      const place = isAfter(this.#cursor, seen) ? this.#cursor : seen;
      await setCheckpoint(this.#client, name, version, place);
    }
    await this.#client.query(`DROP SCHEMA ${this.#schema}`);
    await this.#client.query('SET LOCAL synchronous_commit = on');
  }

  async #tell(): Promise<void> {
    if (this.#options.onProgress === undefined) return;
    const { globalPosition: newest } = await newestPlace(this.#client);
    await this.#options.onProgress({ position: this.#cursor.globalPosition, newest });
  }

  async #eachTable(work: (table: string) => Promise<unknown>): Promise<void> {
    for (const table of this.#projection.tables) await work(table);
  }
}
