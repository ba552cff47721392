/** Takes in a backup that was downloaded, as a stream: it is stored, read once more and compared, and only then called a
 *  backup. */
import { backupKinds } from '#domain/backup/backup.ts';
import { parseBackupId } from '#domain/kernel/ids.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { compareVersions, isVersion } from '#domain/update/update.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readMigrations } from '#infra/postgres/migrate.ts';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { DamagedBackup } from './damaged.ts';
import {
  archiveKey,
  downloadParts,
  removeBackup,
  saveKeys,
  saveSummary,
  type BackupSource,
} from './files.ts';
import { parseJson, type BackupSummary, type WrappedKey } from './format.ts';
import { dropDestroyedKeys } from './keys.ts';
import { newer, verifyBackup, verifyStored, wholeMember } from './read.ts';
import { migrationsFor } from './restore.ts';
import { readTar, type TarMember } from './tar.ts';

const { summaryName, keysName, archiveName } = downloadParts;
const maxSummaryBytes = 64 * 1024;

export interface UploadParts {
  readonly objects: ObjectStore;
  readonly database: Queryable;
  /** The program's version, and the folder of its migrations. */
  readonly version: string;
  readonly migrations: string;
}

/** @param file as it was downloaded
 *  @param admit asked before anything is stored; what it throws is thrown
 *  @returns what is said of it
 *  @throws DamagedBackup, NewerBackup, RestoreRefused, and what the chunks throw: nothing is stored then */
export async function receiveBackup(
  file: AsyncIterable<Uint8Array>,
  parts: UploadParts,
  admit: (summary: BackupSummary) => Promise<void>,
): Promise<BackupSummary> {
  const members = readTar(file);
  try {
    const summary = summaryFrom(await small(members, summaryName, maxSummaryBytes));
    if (compareVersions(summary.version, parts.version) > 0) throw newer(summary.version);
    const keys = keysFrom(await small(members, keysName));
    await admit(summary);
    try {
      await store(members, summary, parts);
      await verify({ summary, keys, archive: () => stored(summary, parts) }, parts);
      await saveKeys(parts.objects, summary.backupId, keys);
      await dropDestroyedKeys(parts.database, parts.objects, summary.backupId);
      await saveSummary(parts.objects, summary);
    } catch (error) {
      await removeBackup(parts.objects, summary.backupId);
      throw error;
    }
    return summary;
  } finally {
    await members.return(undefined);
  }
}

async function small(
  members: AsyncGenerator<TarMember>,
  name: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const { value: member, done } = await members.next();
  if (done === true || member.name !== name || member.sizeBytes > maxBytes) throw noBackup();
  return await wholeMember(member);
}

/** The archive, and that nothing comes behind it. */
async function store(
  members: AsyncGenerator<TarMember>,
  { backupId, sizeBytes }: BackupSummary,
  { objects }: UploadParts,
): Promise<void> {
  const { value: member, done } = await members.next();
  if (done === true || member.name !== archiveName) throw noBackup();
  if (member.sizeBytes !== sizeBytes) throw new DamagedBackup('Its archive is of another size.');
  await objects.putStream(archiveKey(backupId), member.content);
  if ((await members.next()).done !== true) throw new DamagedBackup('Something was added to it.');
}

async function stored(
  { backupId }: BackupSummary,
  { objects }: UploadParts,
): Promise<AsyncIterable<Uint8Array>> {
  const archive = await objects.getStream(archiveKey(backupId));
  if (archive === undefined) throw new Error(`the archive of backup ${backupId} is gone`);
  return archive;
}

/** Into one that is encrypted nobody can look here: it is compared with what is said of it. */
async function verify(source: BackupSource, { migrations }: UploadParts): Promise<void> {
  if (source.summary.encrypted) return await verifyStored(source);
  const { format, manifest } = await verifyBackup(source, { key: undefined });
  const { backupId, events, position } = source.summary;
  if (
    format.backupId !== backupId ||
    manifest.events !== events ||
    manifest.position !== position
  ) {
    throw new DamagedBackup('What is said of it is not what is in it.');
  }
  migrationsFor(format, readMigrations(migrations));
}

const Whole = Type.Integer({ minimum: 0 });
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });
const Summary = Type.Object({
  format: Whole,
  backupId: Type.String(),
  kind: Type.Enum([...backupKinds]),
  version: Type.String(),
  position: Whole,
  events: Whole,
  createdAt: Time,
  finishedAt: Time,
  sizeBytes: Whole,
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  encrypted: Type.Boolean(),
});
const Keys = Type.Array(
  Type.Object({
    key_id: Type.String(),
    script_id: Type.String(),
    master_key_id: Type.String(),
    wrapped_key: Type.String(),
    created_at: Type.String(),
  }),
);

function summaryFrom(bytes: Buffer): BackupSummary {
  const summary = parseJson<BackupSummary>(bytes, summaryName);
  // What a newer program says may have another form.
  if (typeof summary?.version === 'string' && summary.format > 1) throw newer(summary.version);
  if (!Value.Check(Summary, summary)) throw noBackup();
  const isKnown = parseBackupId(summary.backupId) !== undefined && isVersion(summary.version);
  const isTime = [summary.createdAt, summary.finishedAt].every((at) => !isNaN(Date.parse(at)));
  if (!isKnown || !isTime) throw noBackup();
  return summary;
}

function keysFrom(bytes: Buffer): readonly WrappedKey[] {
  const keys = parseJson<readonly WrappedKey[]>(bytes, keysName);
  if (!Value.Check(Keys, keys)) throw new DamagedBackup(`${keysName} in it is damaged.`);
  return keys;
}

function noBackup(): DamagedBackup {
  return new DamagedBackup('It is no backup of this program, or its beginning is damaged.');
}
