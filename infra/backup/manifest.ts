/** Reads and writes the manifest of a backup (`backup.json`), including the seal that authenticates it. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { backupKinds } from '#domain/backup/backup.ts';
import { parseBackupId } from '#domain/kernel/ids.ts';
import { isVersion } from '#domain/update/update.ts';
import { keyName } from '#infra/secrets/envelope.ts';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { damaged, NewerBackup, UnsealedBackup } from './damaged.ts';
import { backupFormat, jsonBytes, parseJson, sealedFormat, type BackupSummary } from './format.ts';

export const summaryName = 'backup.json';

const Whole = Type.Integer({ minimum: 0 });
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Part = Type.Object({ name: Type.String(), sizeBytes: Whole, sha256: Sha256 });
const Sealed = Type.Object({ key: Type.String({ pattern: '^[0-9a-f]{16}$' }), mac: Sha256 });
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
  sha256: Sha256,
  encrypted: Type.Boolean(),
  parts: Type.Optional(Type.Array(Part)),
  seal: Type.Optional(Type.Union([Sealed, Type.Null()])),
});

/** @throws DamagedBackup if the format is invalid, NewerBackup if a newer version of the program wrote the manifest */
export function parseSummary(bytes: Uint8Array): BackupSummary {
  const summary = parseJson<BackupSummary>(bytes, summaryName);
  // Newer versions may use a different format.
  if (typeof summary?.version === 'string' && summary.format > backupFormat) {
    throw newer(summary.version);
  }
  if (!Value.Check(Summary, summary) || !isMeaningful(summary)) {
    throw damaged(summaryName, 'it does not describe a backup');
  }
  // Compares bytes, because JSON parsing ignores some changes, such as whitespace.
  if (!jsonBytes(summary).equals(bytes))
    throw damaged(summaryName, 'it was reformatted or changed');
  return summary;
}

function isMeaningful(summary: BackupSummary): boolean {
  const { format, backupId, version, createdAt, finishedAt, parts, seal } = summary;
  const isTime = [createdAt, finishedAt].every((at) => !isNaN(Date.parse(at)));
  const isKnown = parseBackupId(backupId) !== undefined && isVersion(version);
  const hasParts = (parts !== undefined && seal !== undefined) === format >= sealedFormat;
  return format > 0 && isTime && isKnown && hasParts;
}

/** Returns the error for a backup from a newer version of the program. */
export function newer(version: string): NewerBackup {
  return new NewerBackup(
    `The backup was made by version ${version}, which is newer than this version. Update this installation first.`,
  );
}

/** @param masterKey 32 bytes */
export function sealSummary(summary: BackupSummary, masterKey: Uint8Array): BackupSummary {
  const { seal: _, ...rest } = summary;
  return { ...rest, seal: { key: keyName(masterKey), mac: macOf(rest, masterKey) } };
}

/** @param masterKeys all available master keys
 *  @throws DamagedBackup if the manifest was changed after it was sealed, UnsealedBackup if none of the keys sealed
 *  it */
export function checkSeal(summary: BackupSummary, masterKeys: readonly Uint8Array[]): void {
  const { seal, ...rest } = summary;
  if (seal === undefined) {
    throw unsealed(`The backup was made by version ${summary.version}, which did not seal backups`);
  }
  if (seal === null) throw unsealed('The backup lost its seal when a destroyed key was removed');
  const masterKey = masterKeys.find((key) => keyName(key) === seal.key);
  if (masterKey === undefined) {
    const which = masterKeys.length === 0 ? 'no master key is set' : 'the configured keys differ';
    throw unsealed(
      `The backup is sealed with the master key ${seal.key}, but ${which}. Set SECRET_MASTER_KEY or ` +
        'SECRET_MASTER_KEY_OTHER to the master key of the original installation. If it is already set, ' +
        `${summaryName} is damaged`,
    );
  }
  const [given, expected] = [seal.mac, macOf(rest, masterKey)].map((mac) => Buffer.from(mac));
  if (given === undefined || expected === undefined || !timingSafeEqual(given, expected)) {
    throw damaged(summaryName, 'its seal does not match, so its content was changed');
  }
}

function unsealed(reason: string): UnsealedBackup {
  return new UnsealedBackup(`${reason}. The backup may have been changed.`);
}

/** The MAC key is derived for this purpose only, and differs for each backup. */
function macOf(summary: Omit<BackupSummary, 'seal'>, masterKey: Uint8Array): string {
  const key = hkdfSync('sha256', masterKey, summary.backupId, 'orchestrator backup manifest 1', 32);
  return createHmac('sha256', new Uint8Array(key)).update(jsonBytes(summary)).digest('hex');
}
