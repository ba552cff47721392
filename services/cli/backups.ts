/** Implements `backup verify` and `backup restore`, which run on the server while its services are stopped. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Actor } from '#domain/kernel/actor.ts';
import { parseBackupId } from '#domain/kernel/ids.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { DamagedBackup } from '#infra/backup/damaged.ts';
import { downloadedBackup } from '#infra/backup/downloaded.ts';
import { storedBackup, type BackupSource } from '#infra/backup/files.ts';
import {
  prepareRestore,
  restoreBackup,
  type Prepared,
  type PrepareOptions,
} from '#infra/backup/restore.ts';
import { RestoreRefused } from '#infra/backup/schema-match.ts';
import { verifyBackup } from '#infra/backup/verify.ts';
import { openObjectStore } from '#infra/objects/open.ts';
import { connectedApplications } from '#infra/postgres/operations/restore-checks.ts';
import { systemIds } from '#infra/system/ids.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import {
  masterKeys,
  objectStoreSettings,
  readConfig,
  type Environment,
} from '#services/shared/config.ts';
import type pg from 'pg';
import { CommandProblem, exitCodes } from './problem.ts';
import { restoredText, wholeText } from './restored-text.ts';
import type { Terminal } from './terminal.ts';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));

/** The application names of the services' database connections. */
const services = ['backend', 'runtime', 'scheduler', 'redis'];

/** The settings for backups and objects from the environment. */
export async function backupSettings() {
  const config = readConfig([...objectStoreSettings, 'backupKey', 'dataDir']);
  return {
    ...config,
    masterKeys: masterKeysHere(config.dataDir),
    objects: await openObjectStore(config),
  };
}

/** The master keys from the environment, or from the minimal edition's data folder; empty if neither has any. */
function masterKeysHere(dataDir: string): readonly Uint8Array[] {
  const { SECRET_MASTER_KEY: key, SECRET_MASTER_KEY_FILE: file } = process.env;
  const stored = masterKeyFile(dataDir);
  const environment: Environment =
    key || file || !existsSync(stored)
      ? process.env
      : { ...process.env, SECRET_MASTER_KEY_FILE: stored };
  if (!environment['SECRET_MASTER_KEY'] && !environment['SECRET_MASTER_KEY_FILE']) return [];
  return masterKeys(readConfig(['secretMasterKey', 'secretMasterKeyOther'], environment));
}

const masterKeyFile = (dataDir: string) => join(dataDir, 'secrets', 'SECRET_MASTER_KEY');

/** Finds a backup.
 *  @param name the path of a downloaded file, or the ID of a backup in the object store
 *  @throws CommandProblem if the backup does not exist */
export async function namedBackup(objects: ObjectStore, name: string): Promise<BackupSource> {
  const id = parseBackupId(name);
  if (id === undefined && !existsSync(name)) {
    throw new CommandProblem(exitCodes.notFound, `The file ${name} does not exist.`);
  }
  try {
    const source =
      id === undefined ? await downloadedBackup(name) : await storedBackup(objects, id);
    if (source !== undefined) return source;
  } catch (error) {
    throw asProblem(error);
  }
  throw new CommandProblem(exitCodes.notFound, `The backup ${name} is not in the object store.`);
}

/** Reads and verifies the complete backup.
 *  @param unsealed whether to accept a backup whose seal cannot be checked
 *  @throws CommandProblem that names the problem */
export async function verifyNamed(
  name: string,
  unsealed: boolean,
  terminal: Terminal,
): Promise<void> {
  const { objects, backupKey: key, masterKeys: keys } = await backupSettings();
  const source = await namedBackup(objects, name);
  const { sizeBytes } = source.summary;
  try {
    const verified = await verifyBackup(source, {
      key,
      masterKeys: keys,
      unsealed,
      onRead: (bytes) => terminal.progress('verifying', Math.min(0.99, bytes / sizeBytes)),
    });
    terminal.progress('verifying', 1);
    terminal.line(wholeText(source.summary, verified));
  } catch (error) {
    throw asProblem(error);
  }
}

export interface Preparing {
  readonly source: BackupSource;
  /** Whether to accept a backup whose seal cannot be checked. */
  readonly unsealed: boolean;
  readonly onProgress: NonNullable<PrepareOptions['onProgress']>;
}

/** Verifies the backup before any change. @throws CommandProblem that names the problem */
export async function prepareSource(preparing: Preparing): Promise<Prepared> {
  const { backupKey: key, masterKeys: keys } = await backupSettings();
  try {
    return await prepareRestore({ ...preparing, key, masterKeys: keys, migrations });
  } catch (error) {
    throw asProblem(error);
  }
}

export interface Restoring extends Pick<Preparing, 'source' | 'onProgress'> {
  readonly pool: pg.Pool;
  readonly prepared: Prepared;
  readonly replace: boolean;
  /** Whether to restore access that was revoked after the backup. */
  readonly revive: boolean;
  readonly actor: Actor;
}

/** @returns the report for the user @throws CommandProblem; in this case, nothing was changed */
export async function restoreSource(restoring: Restoring): Promise<string> {
  const { pool, source, prepared } = restoring;
  const { objects, backupKey: key } = await backupSettings();
  await refuseWhileServed(pool);
  try {
    const options = {
      ...restoring,
      objects,
      key,
      projections: { inline: inlineProjections, async: asyncProjections },
      ids: systemIds,
      now: () => new Date(),
    };
    const report = await restoreBackup(options, prepared);
    return restoredText(source.summary, prepared, report);
  } catch (error) {
    throw asProblem(error);
  }
}

async function refuseWhileServed(pool: pg.Pool): Promise<void> {
  const connected = await connectedApplications(pool, services);
  if (connected.length === 0) return;
  throw new CommandProblem(
    exitCodes.refused,
    `These services are still connected to the database: ${connected.join(', ')}. Stop them first.`,
  );
}

/** Prepares a data folder for its first start after a restore. The start then creates no administrator, because the
 *  accounts come from the backup.
 *  @returns a message for the operator if the master key is missing */
export function afterFirstRestore(
  dataDir: string,
  { keys }: Pick<Prepared, 'keys'>,
): string | undefined {
  const folder = join(dataDir, 'secrets');
  const masterKey = masterKeyFile(dataDir);
  const hasKey =
    existsSync(masterKey) ||
    Boolean(process.env['SECRET_MASTER_KEY'] ?? process.env['SECRET_MASTER_KEY_FILE']);
  if (!hasKey && keys.length > 0) {
    return (
      `Its secrets need the master key of the original installation. Put that key into ${masterKey}, or ` +
      'set SECRET_MASTER_KEY, before you start the services.'
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
