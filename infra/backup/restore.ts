/** Replaces the whole database with a backup in one transaction. If the restore fails before the commit, the previous
 *  data remains. Objects are added before the commit, but are not referenced until the commit. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Actor } from '#domain/kernel/actor.ts';
import { parseObjectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { inTransactionOf } from '#infra/postgres/database.ts';
import { lockMigrations, migrateWithin, readMigrations } from '#infra/postgres/migrate.ts';
import type pg from 'pg';
import { clearDatabase } from './clear.ts';
import { damaged } from './damaged.ts';
import {
  countActiveAccess,
  noteEndedAccess,
  unknownEndedAccess,
  type ActiveAccess,
  type EndedAccess,
} from './ended-access.ts';
import { archiveName, type BackupSource } from './files.ts';
import type { Manifest } from './format.ts';
import { insertEvents, insertKeys, insertRows, insertStreams, placeReaders } from './insert.ts';
import { fillReadModels, type Projections } from './read-models.ts';
import { placesFor, type Places } from './places.ts';
import { readBackup, wholeMember } from './read.ts';
import { recordRestore } from './record.ts';
import { migrationsFor, RestoreRefused, type SchemaMigrations } from './schema-match.ts';
import type { TarMember } from './tar.ts';
import { verifyBackup, type VerifiedBackup, type VerifyOptions } from './verify.ts';

const unpack = promisify(gunzip);
/** The size limit for an unpacked table part. Valid parts are smaller; the limit protects against zip bombs. */
const maxPartBytes = 256 * 1024 * 1024;

/** The restore steps, in order. The start of each step is reported. */
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

export interface PrepareOptions extends Omit<VerifyOptions, 'onRead'> {
  readonly source: BackupSource;
  /** The migrations folder. */
  readonly migrations: string;
  /** Receives the current step and its progress, from 0 to 1. The restore waits for the returned promise. */
  readonly onProgress?: (step: RestoreStep, share: number) => void | Promise<void>;
}

export interface RestoreOptions extends Pick<PrepareOptions, 'source' | 'key' | 'onProgress'> {
  /** Connections as the schema's owner. All services must be stopped. */
  readonly pool: pg.Pool;
  readonly objects: ObjectStore;
  readonly projections: Projections;
  /** Whether existing events may be replaced. The replaced events are lost. */
  readonly replace: boolean;
  /** Whether to reinstate access that was revoked after the backup: revoked tokens, ended sessions, disabled accounts
   *  and changed passwords. */
  readonly revive: boolean;
  /** The user who requested the restore. */
  readonly actor: Actor;
  readonly ids: Ids;
  readonly now: () => Date;
}

export interface RestoreReport {
  readonly events: number;
  readonly objects: number;
  /** The total size of the objects according to the backup. */
  readonly objectBytes: number;
  /** Whether the backup replaced an existing history. */
  readonly isInPlace: boolean;
  /** The active access after the restore. */
  readonly active: ActiveAccess;
  /** The access that was revoked after the backup and remains revoked. */
  readonly ended: readonly EndedAccess[];
}

/** A verified backup that can be restored by this program. */
export interface Prepared extends VerifiedBackup {
  readonly schema: SchemaMigrations;
}

/** Verifies the backup without changing anything.
 *  @throws DamagedBackup, RestoreRefused */
export async function prepareRestore(options: PrepareOptions): Promise<Prepared> {
  const onProgress = options.onProgress ?? (() => undefined);
  await onProgress('verifying', 0);
  const { source, migrations } = options;
  const verified = await verifyBackup(source, {
    ...options,
    onRead: (bytes) => onProgress('verifying', bytes / Math.max(1, source.summary.sizeBytes)),
  });
  return { ...verified, schema: migrationsFor(verified.format, readMigrations(migrations)) };
}

/** Restores a verified backup. After an interruption, the next attempt starts over but keeps objects that already
 *  exist.
 *  @throws DamagedBackup, RestoreRefused; nothing was changed in either case */
export async function restoreBackup(
  options: RestoreOptions,
  prepared: Prepared,
): Promise<RestoreReport> {
  const onProgress = options.onProgress ?? (() => undefined);
  const client = await options.pool.connect();
  let outcome: Outcome;
  try {
    outcome = await inTransactionOf(client, async () => {
      const left = await new Restore(client, options, prepared).run();
      await onProgress('committing', 0);
      return left;
    });
  } finally {
    client.release(true); // the restore has recreated the schema
  }
  await onProgress('objects', 0);
  const { differing, ...report } = outcome;
  await replaceObjects(options, differing);
  await onProgress('done', 1);
  return report;
}

interface Outcome extends RestoreReport {
  /** Existing objects whose content differs from the backup. */
  readonly differing: readonly ObjectKey[];
}

class Restore {
  readonly #db: pg.PoolClient;
  readonly #options: RestoreOptions;
  readonly #prepared: Prepared;
  readonly #manifest: Manifest;
  readonly #differing: ObjectKey[] = [];
  #events = 0;

  constructor(db: pg.PoolClient, options: RestoreOptions, prepared: Prepared) {
    this.#db = db;
    this.#options = options;
    this.#prepared = prepared;
    this.#manifest = prepared.manifest;
  }

  async run(): Promise<Outcome> {
    const { options, schema, keys } = { options: this.#options, ...this.#prepared };
    await this.#report('clearing', 0);
    await this.#db.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await lockMigrations(this.#db);
    const isInPlace = (await this.#eventsHere()) > 0;
    const keepsEnded = isInPlace && !options.revive;
    if (keepsEnded) await noteEndedAccess(this.#db);
    const destroyed = await clearDatabase(this.#db);
    await migrateWithin(this.#db, schema.before);
    const places = await placesFor(this.#db, this.#manifest.events);
    await this.#load(places);
    await insertStreams(this.#db);
    await migrateWithin(this.#db, schema.after);
    await insertKeys(this.#db, keys, destroyed);
    const ended = keepsEnded ? await unknownEndedAccess(this.#db) : [];
    const recording = { ...options, summary: options.source.summary };
    const added = await recordRestore(this.#db, recording, ended);
    await this.#report('read models', 0);
    const { projections } = options;
    const told = { places, loaded: this.#events, added };
    await fillReadModels(this.#db, projections, told, (share) =>
      this.#report('read models', share),
    );
    await placeReaders(this.#db, this.#manifest.readers, projections.async, places);
    const { events, objects, objectBytes } = this.#manifest;
    const active = await countActiveAccess(this.#db, options.now());
    const differing = this.#differing;
    return { events, objects, objectBytes, isInPlace, active, ended, differing };
  }

  /** @throws RestoreRefused if the database contains events and `replace` is false */
  async #eventsHere(): Promise<number> {
    const { rows: tables } = await this.#db.query<{ there: boolean }>(
      `SELECT to_regclass('public.events') IS NOT NULL AS there`,
    );
    if (tables[0]?.there !== true) return 0;
    const { rows } = await this.#db.query<{ count: number }>(
      'SELECT count(*) AS count FROM events',
    );
    const count = rows[0]?.count ?? 0;
    if (count > 0 && !this.#options.replace) {
      throw new RestoreRefused(
        `This installation has ${count} events, which would be lost. Use --replace to replace them with the backup.`,
      );
    }
    return count;
  }

  async #load(places: Places): Promise<void> {
    const columns = new Map(this.#manifest.tables.map((table) => [table.name, table.columns]));
    const { source, key } = this.#options;
    const { sizeBytes } = source.summary;
    const onRead = (bytes: number) => this.#report('loading', bytes / Math.max(1, sizeBytes));
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
        throw damaged(member.name, 'the object is unknown');
      }
    }
    if (this.#events !== this.#manifest.events) {
      throw damaged(
        archiveName,
        `it has ${this.#events} events instead of ${this.#manifest.events}`,
      );
    }
  }

  /** Does not replace an existing object that has different content. `replaceObjects` replaces it after the commit. */
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

  async #report(step: RestoreStep, share: number): Promise<void> {
    await this.#options.onProgress?.(step, share);
  }
}

/** Replaces existing objects whose content differs from the backup. */
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
  if (key === undefined) throw damaged(name, 'it cannot be stored under this name');
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
