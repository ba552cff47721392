/** Puts a backup in the place of all there is in the database, in one transaction: whatever ends it before its
 *  commit leaves what was there. Objects are added before; nothing names them until then. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { BackupContent } from '#domain/backup/backup.ts';
import type { Actor } from '#domain/kernel/actor.ts';
import type { NewEvent } from '#domain/kernel/event.ts';
import {
  known,
  parseBackupId,
  parseCommandId,
  parseEventId,
  type BackupId,
} from '#domain/kernel/ids.ts';
import type { StreamAppend } from '#domain/ports/event-store.ts';
import { parseObjectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { inTransactionOf } from '#infra/postgres/database.ts';
import { appendEvents } from '#infra/postgres/event-store.ts';
import {
  lockMigrations,
  migrateWithin,
  readMigrations,
  type Migration,
} from '#infra/postgres/migrate.ts';
import type pg from 'pg';
import { clearDatabase } from './clear.ts';
import { DamagedBackup } from './damaged.ts';
import type { BackupSource } from './files.ts';
import type { FormatDescription, Manifest } from './format.ts';
import { insertEvents, insertKeys, insertRows, insertStreams, placeReaders } from './insert.ts';
import { fillReadModels, type Projections } from './read-models.ts';
import { placesFor, type Places } from './places.ts';
import { newer, readBackup, verifyBackup, wholeMember } from './read.ts';
import type { TarMember } from './tar.ts';

const unpack = promisify(gunzip);
/** Of what fills a part there cannot be more; a bomb would. */
const maxPartBytes = 256 * 1024 * 1024;

/** In their order; each is told when it begins. */
export const restoreSteps = [
  'verifying',
  'clearing',
  'loading',
  'read models',
  'committing',
  'objects',
  'done',
] as const;
export type RestoreStep = (typeof restoreSteps)[number];

export interface RestoreOptions {
  /** Connections as the schema's owner, while no service runs. */
  readonly pool: pg.Pool;
  readonly objects: ObjectStore;
  readonly source: BackupSource;
  /** What backups are encrypted with, if they are. */
  readonly key: Uint8Array | undefined;
  /** Folder of the migrations. */
  readonly migrations: string;
  readonly projections: Projections;
  /** Also where there are events, which are lost then. */
  readonly replace: boolean;
  /** Who asked for it. */
  readonly actor: Actor;
  readonly ids: Ids;
  readonly now: () => Date;
  /** Told where it is, with the share of the step from 0 to 1; the next part waits for it. */
  readonly onProgress?: (step: RestoreStep, share: number) => void | Promise<void>;
}

export interface RestoreReport {
  readonly events: number;
  readonly objects: number;
  /** What the backup says of the objects that it holds. */
  readonly objectBytes: number;
}

/** It cannot be restored here; nothing was changed. The message is for the operator. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused';
}

/** Restores. Whoever is interrupted begins anew: what the object store has already is passed.
 *  @throws DamagedBackup, RestoreRefused: nothing was changed */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const tell = options.onProgress ?? (() => undefined);
  await tell('verifying', 0);
  const { sizeBytes } = options.source.summary;
  const { format, manifest } = await verifyBackup(options.source, {
    key: options.key,
    onRead: (bytes) => tell('verifying', bytes / Math.max(1, sizeBytes)),
  });
  const migrations = migrationsFor(format, readMigrations(options.migrations));
  const client = await options.pool.connect();
  let differing: readonly ObjectKey[];
  try {
    differing = await inTransactionOf(client, async () => {
      const left = await new Restore(client, options, migrations, manifest).run();
      await tell('committing', 0);
      return left;
    });
  } finally {
    client.release(true); // it has made the schema anew
  }
  await tell('objects', 0);
  await replaceObjects(options, differing);
  await tell('done', 1);
  const { events, objects, objectBytes } = manifest;
  return { events, objects, objectBytes };
}

interface Migrations {
  /** What made the schema that the backup's rows are of. */
  readonly before: readonly Migration[];
  readonly after: readonly Migration[];
}

/** @throws NewerBackup, RestoreRefused where its schema is none of this program's */
export function migrationsFor(format: FormatDescription, own: readonly Migration[]): Migrations {
  const { migrations: theirs, version } = format;
  if (theirs.length > own.length) throw newer(version);
  for (const [index, { name, sha256 }] of theirs.entries()) {
    if (own[index]?.sha256 !== sha256) {
      throw new RestoreRefused(`The backup is of another program: its migration ${name} differs.`);
    }
  }
  return { before: own.slice(0, theirs.length), after: own.slice(theirs.length) };
}

class Restore {
  readonly #db: pg.PoolClient;
  readonly #options: RestoreOptions;
  readonly #migrations: Migrations;
  readonly #manifest: Manifest;
  readonly #differing: ObjectKey[] = [];
  #events = 0;

  constructor(
    db: pg.PoolClient,
    options: RestoreOptions,
    migrations: Migrations,
    manifest: Manifest,
  ) {
    this.#db = db;
    this.#options = options;
    this.#migrations = migrations;
    this.#manifest = manifest;
  }

  /** @returns objects that there are with other content */
  async run(): Promise<readonly ObjectKey[]> {
    await this.#tell('clearing', 0);
    await this.#db.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await lockMigrations(this.#db);
    await this.#refuseLoss();
    const destroyed = await clearDatabase(this.#db);
    await migrateWithin(this.#db, this.#migrations.before);
    const places = await placesFor(this.#db, this.#manifest.events);
    await this.#load(places);
    await insertStreams(this.#db);
    await migrateWithin(this.#db, this.#migrations.after);
    await insertKeys(this.#db, this.#options.source.keys, destroyed);
    const added = await this.#record();
    await this.#tell('read models', 0);
    const { projections } = this.#options;
    const told = { places, loaded: this.#events, added };
    await fillReadModels(this.#db, projections, told, (share) => this.#tell('read models', share));
    await placeReaders(this.#db, this.#manifest.readers, projections.async, places);
    return this.#differing;
  }

  async #refuseLoss(): Promise<void> {
    if (this.#options.replace) return;
    const { rows: tables } = await this.#db.query<{ there: boolean }>(
      `SELECT to_regclass('public.events') IS NOT NULL AS there`,
    );
    if (tables[0]?.there !== true) return;
    const { rows } = await this.#db.query<{ count: number }>(
      'SELECT count(*) AS count FROM events',
    );
    const count = rows[0]?.count ?? 0;
    if (count > 0) {
      throw new RestoreRefused(
        `This installation has ${count} events, which would be lost. Say --replace to put the backup in their place.`,
      );
    }
  }

  async #load(places: Places): Promise<void> {
    const columns = new Map(this.#manifest.tables.map((table) => [table.name, table.columns]));
    const { source, key } = this.#options;
    const { sizeBytes } = source.summary;
    const onRead = (bytes: number) => this.#tell('loading', bytes / Math.max(1, sizeBytes));
    for await (const member of readBackup(source, { key, onRead })) {
      if (member.kind !== 'content') continue;
      const [root, table = ''] = member.name.split('/');
      if (root === 'events') {
        this.#events += await insertEvents(this.#db, await linesOf(member), this.#events, places);
      } else if (root === 'tables') {
        await insertRows(this.#db, table, columns.get(table) ?? [], await linesOf(member));
      } else if (root === 'objects') {
        await this.#putObject(member);
      } else {
        throw new DamagedBackup(`${member.name} in it is unknown.`);
      }
    }
    if (this.#events !== this.#manifest.events) {
      throw new DamagedBackup('It has not as many events as it says.');
    }
  }

  /** What is there with other content is left to the time when all else has changed. */
  async #putObject(member: TarMember): Promise<void> {
    const { objects } = this.#options;
    const key = keyOf(member);
    const stored = await objects.getStream(key);
    if (stored === undefined) {
      await objects.putStream(key, member.content);
      return;
    }
    const [own, theirs] = [await hashOf(stored), await hashOf(member.content)];
    if (own !== theirs) this.#differing.push(key);
  }

  /** @returns how many events that makes */
  async #record(): Promise<number> {
    const { source, actor, ids, now } = this.#options;
    const backupId = known(parseBackupId, source.summary.backupId);
    const commandId = known(parseCommandId, ids.next());
    const metadata = { commandId, actor, ip: null, correlationId: commandId, causationId: null };
    const event = (type: string, data: object) => ({
      eventId: known(parseEventId, ids.next()),
      type,
      schemaVersion: 1,
      data,
      metadata,
    });
    const restored = event('BackupRestored', { backupId, content: contentOf(source) });
    const appends = [await this.#append(backupId, restored)];
    // What was asked for before this moment is not to be done behind it.
    for (const other of await this.#askedFor()) {
      if (other === backupId) continue;
      const reason = 'Another backup was restored.';
      appends.push(await this.#append(other, event('RestoreFailed', { backupId: other, reason })));
    }
    return (await appendEvents(this.#db, appends, now())).length;
  }

  async #append(backupId: BackupId, event: NewEvent): Promise<StreamAppend> {
    const streamId = `backup-${backupId}` as const;
    const { rows } = await this.#db.query<{ version: number }>(
      'SELECT version FROM streams WHERE stream_id = $1',
      [streamId],
    );
    return { streamId, expectedVersion: rows[0]?.version ?? 0, events: [event] };
  }

  async #askedFor(): Promise<readonly BackupId[]> {
    const { rows } = await this.#db.query<{ id: string }>(
      `SELECT asked.data ->> 'backupId' AS id FROM events asked
       WHERE asked.type = 'RestoreRequested' AND NOT EXISTS (
         SELECT FROM events later WHERE later.stream_id = asked.stream_id
           AND later.version > asked.version AND later.type IN ('RestoreFailed', 'BackupRestored'))`,
    );
    return rows.map(({ id }) => known(parseBackupId, id));
  }

  async #tell(step: RestoreStep, share: number): Promise<void> {
    await this.#options.onProgress?.(step, share);
  }
}

/** What a summary says to the domain. */
export function contentOf({ summary }: Pick<BackupSource, 'summary'>): BackupContent {
  const { kind, position, events, sizeBytes, sha256, encrypted, version } = summary;
  const { createdAt, finishedAt } = summary;
  return { kind, position, events, sizeBytes, sha256, encrypted, version, createdAt, finishedAt };
}

/** Of these the backup has others; the services do not run yet. */
async function replaceObjects(
  { objects, source, key }: RestoreOptions,
  differing: readonly ObjectKey[],
): Promise<void> {
  if (differing.length === 0) return;
  const wanted: ReadonlySet<ObjectKey> = new Set(differing);
  for await (const member of readBackup(source, { key })) {
    if (member.kind !== 'content') continue;
    if (member.name.startsWith('objects/') && wanted.has(keyOf(member))) {
      await objects.putStream(keyOf(member), member.content);
    } else for await (const _ of member.content);
  }
}

function keyOf({ name }: TarMember): ObjectKey {
  const key = parseObjectKey(name.slice('objects/'.length));
  if (key === undefined) throw new DamagedBackup(`${name} in it cannot be stored.`);
  return key;
}

async function linesOf(member: TarMember): Promise<readonly string[]> {
  const bytes = await unpack(await wholeMember(member), { maxOutputLength: maxPartBytes });
  return bytes.toString('utf8').split('\n').slice(0, -1);
}

async function hashOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of content) hash.update(piece);
  return hash.digest('hex');
}
