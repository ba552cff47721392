/** `backup verify` and `backup restore`: on the server, while its services do not run. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Actor } from '#domain/kernel/actor.ts';
import { parseBackupId } from '#domain/kernel/ids.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { DamagedBackup } from '#infra/backup/damaged.ts';
import { downloadedBackup } from '#infra/backup/downloaded.ts';
import { storedBackup, type BackupSource } from '#infra/backup/files.ts';
import { verifyBackup } from '#infra/backup/read.ts';
import { restoreBackup, RestoreRefused, type RestoreOptions } from '#infra/backup/restore.ts';
import { openObjectStore } from '#infra/objects/open.ts';
import { systemIds } from '#infra/system/ids.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { objectStoreSettings, readConfig } from '#services/shared/config.ts';
import type pg from 'pg';
import { CommandProblem, exitCodes } from './problem.ts';
import type { Terminal } from './terminal.ts';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));
/** Names under which the services connect. */
const services = ['backend', 'runtime', 'scheduler', 'redis'];

/** What the environment says of where backups and objects are. */
export async function backupSettings() {
  const config = readConfig([...objectStoreSettings, 'backupKey', 'dataDir']);
  return { ...config, objects: await openObjectStore(config) };
}

/** @param name path of a file that was downloaded, or the id of a backup in the object store
 *  @throws CommandProblem where there is none */
export async function namedBackup(objects: ObjectStore, name: string): Promise<BackupSource> {
  const id = parseBackupId(name);
  if (id === undefined && !existsSync(name)) {
    throw new CommandProblem(exitCodes.notFound, `There is no file ${name}.`);
  }
  try {
    const source =
      id === undefined ? await downloadedBackup(name) : await storedBackup(objects, id);
    if (source !== undefined) return source;
  } catch (error) {
    throw asProblem(error);
  }
  throw new CommandProblem(exitCodes.notFound, `There is no backup ${name} in the object store.`);
}

/** Reads all of it. @throws CommandProblem that names what is wrong */
export async function verifyNamed(name: string, terminal: Terminal): Promise<void> {
  const { objects, backupKey: key } = await backupSettings();
  const source = await namedBackup(objects, name);
  const { sizeBytes, backupId, createdAt } = source.summary;
  try {
    const { manifest } = await verifyBackup(source, {
      key,
      onRead: (bytes) => terminal.progress('verifying', Math.min(0.99, bytes / sizeBytes)),
    });
    terminal.progress('verifying', 1);
    terminal.line(
      `Backup ${backupId} of ${createdAt} is whole: ${manifest.events} events, ${manifest.objects} objects.`,
    );
  } catch (error) {
    throw asProblem(error);
  }
}

export interface Restoring {
  readonly pool: pg.Pool;
  readonly source: BackupSource;
  readonly replace: boolean;
  readonly actor: Actor;
  readonly onProgress: NonNullable<RestoreOptions['onProgress']>;
}

/** @returns what to tell of it  @throws CommandProblem: nothing was changed */
export async function restoreSource(restoring: Restoring): Promise<string> {
  const { pool, source } = restoring;
  const { objects, backupKey: key } = await backupSettings();
  await refuseWhileServed(pool);
  try {
    const { events, objects: count } = await restoreBackup({
      ...restoring,
      objects,
      key,
      migrations,
      projections: { inline: inlineProjections, async: asyncProjections },
      ids: systemIds,
      now: () => new Date(),
    });
    const { backupId, createdAt } = source.summary;
    return `Restored backup ${backupId} of ${createdAt}: ${events} events, ${count} objects.`;
  } catch (error) {
    throw asProblem(error);
  }
}

async function refuseWhileServed(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = ANY ($1)`,
    [services],
  );
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(', ');
  throw new CommandProblem(
    exitCodes.refused,
    `These services are connected to the database: ${names}. Stop them first.`,
  );
}

/** After a restore into the data folder of an installation that was never started: its first administrator is one
 *  of the backup. @returns what the operator is to know; undefined for nothing */
export function afterFirstRestore(dataDir: string, source: BackupSource): string | undefined {
  const folder = join(dataDir, 'secrets');
  const masterKey = join(folder, 'SECRET_MASTER_KEY');
  const hasKey =
    existsSync(masterKey) ||
    Boolean(process.env['SECRET_MASTER_KEY'] ?? process.env['SECRET_MASTER_KEY_FILE']);
  if (!hasKey && source.keys.length > 0) {
    return (
      'Its secrets can be read with the master key of the installation that it was made by: put that into ' +
      `${masterKey}, or set SECRET_MASTER_KEY, before the start.`
    );
  }
  if (!hasKey) return undefined;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'first-start-done'), `${new Date().toISOString()}\n`);
  return undefined;
}

export function asProblem(error: unknown): unknown {
  if (error instanceof DamagedBackup || error instanceof RestoreRefused) {
    return new CommandProblem(exitCodes.refused, error.message, { cause: error });
  }
  return error;
}
