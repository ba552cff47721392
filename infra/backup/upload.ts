/** Receives a downloaded backup as a stream. All parts are stored and verified before the manifest is written. */
import type { ObjectStore } from '#domain/ports/objects.ts';
import { compareVersions } from '#domain/update/update.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readMigrations } from '#infra/postgres/migrate.ts';
import type { MasterKeys } from '#infra/secrets/data-keys.ts';
import { damaged, inPart } from './damaged.ts';
import { noBackup, summaryFrom } from './downloaded.ts';
import {
  archiveName,
  isKeysName,
  partKey,
  partListName,
  partNames,
  removeBackup,
  saveSummary,
  storedSource,
} from './files.ts';
import type { BackupSummary } from './format.ts';
import { renewKeys } from './keys.ts';
import { newer, summaryName } from './manifest.ts';
import { migrationsFor } from './schema-match.ts';
import { readTar, type TarMember } from './tar.ts';
import { verifyBackup, verifyStored } from './verify.ts';

const maxSummaryBytes = 64 * 1024;

export interface UploadDeps {
  readonly objects: ObjectStore;
  readonly database: Queryable;
  readonly masterKeys: MasterKeys;
  /** The program's version and its migrations folder. */
  readonly version: string;
  readonly migrations: string;
}

/** Receives a backup. Verifies the seal if this installation has the backup's master key. Otherwise, only the checksums
 *  are verified, and a later verification or restore reports the unverified seal.
 *  @param file the downloaded file
 *  @param admit called before anything is stored; its errors propagate to the caller
 *  @returns the manifest of the backup
 *  @throws DamagedBackup, NewerBackup, RestoreRefused, and errors from reading `file`; nothing is stored in these
 *  cases */
export async function receiveBackup(
  file: AsyncIterable<Uint8Array>,
  parts: UploadDeps,
  admit: (summary: BackupSummary) => Promise<void>,
): Promise<BackupSummary> {
  const members = readTar(file);
  const reading = { name: summaryName };
  try {
    const summary = await manifestIn(members);
    if (compareVersions(summary.version, parts.version) > 0) throw newer(summary.version);
    await admit(summary);
    try {
      await store(members, summary, parts, reading);
      await verify(summary, parts);
      await saveSummary(parts.objects, summary);
      const { database, objects, masterKeys } = parts;
      await renewKeys(database, objects, summary.backupId, masterKeys);
    } catch (error) {
      await removeBackup(parts.objects, summary.backupId);
      throw error;
    }
    return summary;
  } catch (error) {
    throw inPart(reading.name, error);
  } finally {
    await members.return(undefined);
  }
}

async function manifestIn(members: AsyncGenerator<TarMember>): Promise<BackupSummary> {
  const { value: member, done } = await members.next();
  if (done === true || member.sizeBytes > maxSummaryBytes) throw noBackup();
  return await summaryFrom(member);
}

/** Stores the listed parts and verifies that the file contains no other parts.
 *  @param reading called with the name of the next part */
async function store(
  members: AsyncGenerator<TarMember>,
  summary: BackupSummary,
  { objects }: UploadDeps,
  reading: { name: string },
): Promise<void> {
  for (const name of partNames(summary)) {
    if (!isKeysName(name) && name !== partListName && name !== archiveName) {
      throw damaged(summaryName, 'it lists different parts');
    }
    reading.name = name;
    const { value: member, done } = await members.next();
    if (done === true) throw damaged(name, 'it is missing');
    if (member.name !== name) throw damaged(name, `found ${member.name} instead`);
    await objects.putStream(partKey(summary.backupId, name), member.content);
  }
  const { value: member, done } = await members.next();
  if (done !== true) throw damaged(member.name, 'it does not belong to the backup');
}

/** An encrypted archive cannot be decrypted here. Its stored bytes are therefore compared with the manifest. */
async function verify(
  summary: BackupSummary,
  { objects, masterKeys, migrations }: UploadDeps,
): Promise<void> {
  const source = await storedSource(objects, summary);
  const options = { masterKeys, unsealed: true };
  if (summary.encrypted) return await verifyStored(source, options);
  const { format } = await verifyBackup(source, { key: undefined, ...options });
  migrationsFor(format, readMigrations(migrations));
}
