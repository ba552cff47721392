/** Creates a consistent backup while the service is running. */
import { createHash } from 'node:crypto';
import type { BackupKind } from '#domain/backup/backup.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { inTransactionOf, type Queryable } from '#infra/postgres/database.ts';
import type pg from 'pg';
import { archiveName, partKey, partListName, saveSummary } from './files.ts';
import {
  backupFormat,
  formatMember,
  jsonBytes,
  manifestMember,
  type BackupSummary,
  type FormatDescription,
  type Manifest,
  type WrappedKey,
} from './format.ts';
import { keysPart } from './keys.ts';
import { sealSummary } from './manifest.ts';
import { PartList, type ListedPart } from './parts.ts';
import { partsOf } from './rows.ts';
import { seal } from './sealing.ts';
import { copiedTables } from './tables.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

const objectRoots = ['scripts/', 'runs/', 'templates/', 'system/'];

export interface MakeBackupDeps {
  readonly pool: pg.Pool;
  readonly objects: ObjectStore;
  /** The 32-byte encryption key. If undefined, the backup is not encrypted. */
  readonly key: Uint8Array | undefined;
  /** The 32-byte master key for the seal. */
  readonly masterKey: Uint8Array;
  /** The program's version. */
  readonly version: string;
  /** Receives the progress, from 0 to 1. The backup waits for the returned promise. */
  readonly onProgress?: (share: number) => Promise<void>;
}

export interface BackupRequest {
  readonly backupId: string;
  readonly kind: BackupKind;
  readonly createdAt: Date;
  /** Returns the current time, for the completion timestamp. */
  readonly now: () => Date;
}

/** Writes a backup to the object store atomically. The backup contains every event that was committed when it started,
 *  with the related data. Memory use is bounded.
 *  @throws the abort reason of `signal`, and errors from the database or the object store; nothing is stored in these
 *  cases */
export async function makeBackup(
  parts: MakeBackupDeps,
  request: BackupRequest,
  signal: AbortSignal,
): Promise<BackupSummary> {
  const client = await parts.pool.connect();
  try {
    return await inTransactionOf(client, () => new Making(client, parts, request, signal).run());
  } finally {
    client.release();
  }
}

class Making {
  readonly #db: pg.PoolClient;
  readonly #parts: MakeBackupDeps;
  readonly #request: BackupRequest;
  readonly #signal: AbortSignal;
  readonly #list = new PartList();
  #steps = 0;
  #done = 0;

  constructor(
    db: pg.PoolClient,
    parts: MakeBackupDeps,
    request: BackupRequest,
    signal: AbortSignal,
  ) {
    this.#db = db;
    this.#parts = parts;
    this.#request = request;
    this.#signal = signal;
  }

  async run(): Promise<BackupSummary> {
    const { objects, masterKey } = this.#parts;
    const { backupId, kind, createdAt, now } = this.#request;
    // A read-only transaction gets no transaction ID, so it does not block readers of the event store.
    await this.#db.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await this.#db.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    const { position, events } = await this.#position();
    const keys = await wrappedKeys(this.#db);
    const { archive, list } = await this.#putArchive();
    const { part, bytes } = keysPart(keys, 1);
    await objects.put(partKey(backupId, part.name), bytes);
    const summary: BackupSummary = {
      format: backupFormat,
      backupId,
      kind,
      version: this.#parts.version,
      position,
      events,
      createdAt: createdAt.toISOString(),
      finishedAt: now().toISOString(),
      sizeBytes: archive.sizeBytes,
      sha256: archive.sha256,
      encrypted: this.#parts.key !== undefined,
      parts: [part, list, archive],
    };
    const sealed = sealSummary(summary, masterKey);
    await saveSummary(objects, sealed);
    return sealed;
  }

  /** Writes the archive and the list of its contents concurrently. If either write fails, the other is aborted. */
  async #putArchive(): Promise<{ readonly archive: ListedPart; readonly list: ListedPart }> {
    const { objects, key } = this.#parts;
    const { backupId } = this.#request;
    const content = key === undefined ? this.#archive() : seal(key, this.#archive());
    const [archive, list] = [countBytes(content), countBytes(this.#list.chunks)];
    const listing = objects.putStream(partKey(backupId, partListName), list.chunks);
    let first: Error | undefined;
    const end = (error: Error) => {
      first ??= error;
      this.#list.fail(error);
    };
    const listed = listing.catch(end);
    await objects
      .putStream(partKey(backupId, archiveName), archive.chunks)
      .then(() => this.#list.end(), end);
    await listed;
    if (first !== undefined) throw first;
    return {
      archive: { name: archiveName, ...archive.result() },
      list: { name: partListName, ...list.result() },
    };
  }

  async *#archive(): AsyncGenerator<Uint8Array> {
    const { position, events } = await this.#position();
    this.#steps = await this.#stepsToDo(events);
    yield* this.#member(formatMember, jsonBytes(await this.#format()));
    yield* this.#rows('events', eventsInOrder);
    const tables: Manifest['tables'][number][] = [];
    for (const name of copiedTables) {
      const rows = yield* this.#rows(`tables/${name}`, `SELECT * FROM ${name}`);
      tables.push({ name, columns: await columnsOf(this.#db, name), rows });
    }
    const { objects, objectBytes } = yield* this.#objects();
    const manifest: Manifest = {
      position,
      events,
      readers: await readersOf(this.#db),
      tables,
      objects,
      objectBytes,
    };
    yield* this.#member(manifestMember, jsonBytes(manifest));
    yield tarEnd;
  }

  async #position(): Promise<{ position: number; events: number }> {
    const { rows } = await this.#db.query<{ position: number; events: number }>(
      'SELECT coalesce(max(global_position), 0) AS position, count(*) AS events FROM events',
    );
    return rows[0] ?? { position: 0, events: 0 };
  }

  async #format(): Promise<FormatDescription> {
    const { backupId, kind, createdAt } = this.#request;
    const { rows: migrations } = await this.#db.query<FormatDescription['migrations'][number]>(
      'SELECT name, sha256 FROM schema_migrations ORDER BY number',
    );
    const { version } = this.#parts;
    const at = createdAt.toISOString();
    return { format: backupFormat, backupId, kind, createdAt: at, version, migrations };
  }

  async *#rows(folder: string, query: string): AsyncGenerator<Uint8Array, number> {
    let rows = 0;
    let number = 0;
    for await (const part of partsOf(this.#db, query)) {
      number += 1;
      const name = `${folder}/${String(number).padStart(8, '0')}.ndjson.gz`;
      yield* this.#member(name, part.content);
      rows += part.rows;
      await this.#progress(part.rows);
    }
    return rows;
  }

  async *#objects(): AsyncGenerator<Uint8Array, { objects: number; objectBytes: number }> {
    let [count, bytes] = [0, 0];
    for (const root of objectRoots) {
      for await (const { key } of this.#parts.objects.list(root)) {
        const [info, content] = [
          await this.#parts.objects.head(key),
          await this.#parts.objects.getStream(key),
        ];
        // Skips content that was removed by retention or a purge after the backup started.
        if (info === undefined || content === undefined) continue;
        yield* this.#streamed(`objects/${key}`, info.sizeBytes, content);
        count += 1;
        bytes += info.sizeBytes;
        await this.#progress(1);
      }
    }
    return { objects: count, objectBytes: bytes };
  }

  async *#member(name: string, content: Uint8Array): AsyncGenerator<Uint8Array> {
    const sizeBytes = content.byteLength;
    yield tarHeader(name, sizeBytes);
    yield content;
    yield tarPadding(sizeBytes);
    const sha256 = createHash('sha256').update(content).digest('hex');
    await this.#noted({ name, sizeBytes, sha256 });
  }

  async *#streamed(
    name: string,
    sizeBytes: number,
    content: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    yield tarHeader(name, sizeBytes);
    const hash = createHash('sha256');
    let size = 0;
    for await (const piece of content) {
      hash.update(piece);
      size += piece.byteLength;
      yield piece;
    }
    if (size !== sizeBytes) throw new Error(`${name} changed during the backup; try again`);
    yield tarPadding(sizeBytes);
    await this.#noted({ name, sizeBytes, sha256: hash.digest('hex') });
  }

  async #noted(part: ListedPart): Promise<void> {
    this.#signal.throwIfAborted();
    await this.#list.add(part);
  }

  async #stepsToDo(events: number): Promise<number> {
    const sums = copiedTables.map((name) => `(SELECT count(*) FROM ${name})`).join(' + ');
    const { rows } = await this.#db.query<{ rows: number }>(`SELECT ${sums} AS rows`);
    let steps = events + (rows[0]?.rows ?? 0);
    for (const root of objectRoots) {
      for await (const _ of this.#parts.objects.list(root)) steps += 1;
    }
    return steps;
  }

  async #progress(steps: number): Promise<void> {
    this.#done += steps;
    await this.#parts.onProgress?.(Math.min(1, this.#done / Math.max(1, this.#steps)));
  }
}

const eventsInOrder = `SELECT stream_id, version, event_id, type, schema_version, data, metadata, recorded_at
  FROM events ORDER BY transaction_id, global_position`;

async function columnsOf(db: Queryable, table: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = to_regclass('public.' || $1) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** Returns each reader's position as an event count. The counts stay valid when a restore assigns new positions to the
 *  events. */
async function readersOf(db: Queryable): Promise<Manifest['readers']> {
  const { rows } = await db.query<Manifest['readers'][number]>(
    `SELECT name, version, (SELECT count(*) FROM events e
        WHERE (e.transaction_id, e.global_position) <= (c.transaction_id, c.global_position)) AS seen
     FROM checkpoints c ORDER BY name`,
    [],
  );
  return rows;
}

async function wrappedKeys(db: Queryable): Promise<readonly WrappedKey[]> {
  const { rows } = await db.query<WrappedKey>(
    `SELECT key_id, script_id, master_key_id, encode(wrapped_key, 'base64') AS wrapped_key,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at
     FROM data_keys ORDER BY key_id`,
    [],
  );
  return rows;
}

/** Counts and hashes the bytes that pass through. */
function countBytes(source: AsyncIterable<Uint8Array>) {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  return {
    chunks: (async function* () {
      for await (const chunk of source) {
        hash.update(chunk);
        sizeBytes += chunk.byteLength;
        yield chunk;
      }
    })(),
    result: () => ({ sizeBytes, sha256: hash.digest('hex') }),
  };
}
