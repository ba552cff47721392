/** Verifies a backup: its seal, all parts, every wrapped key, and every archive member. Also verifies that the manifest
 *  matches the content. */
import { damaged, inPart, UnsealedBackup } from './damaged.ts';
import { archiveName, isKeysName, partListName, partNames, type BackupSource } from './files.ts';
import type { FormatDescription, Manifest, WrappedKey } from './format.ts';
import { checkKeys, readKeys } from './keys.ts';
import { checkSeal, summaryName } from './manifest.ts';
import { comparedPart, readBackup, type ReadOptions } from './read.ts';

export interface SealOptions {
  /** The available master keys. They must include the key that sealed the backup and wrapped its data keys. */
  readonly masterKeys: readonly Uint8Array[];
  /** Whether to accept a backup whose seal cannot be verified. A backup that was changed after sealing is always
   *  refused. */
  readonly unsealed?: boolean;
}

export type VerifyOptions = ReadOptions & SealOptions;

export interface VerifiedBackup {
  readonly format: FormatDescription;
  readonly manifest: Manifest;
  readonly keys: readonly WrappedKey[];
  /** The number of data keys that no available master key can unwrap. Secrets encrypted with these data keys cannot be
   *  read. */
  readonly foreignKeys: number;
  /** Why the seal could not be verified, or null if it was verified. */
  readonly unsealed: string | null;
}

/** Reads and verifies the complete backup, and keeps only its data keys in memory.
 *  @throws DamagedBackup that names the damaged part; UnsealedBackup, after all other checks, if its seal cannot be
 *  verified */
export async function verifyBackup(
  source: BackupSource,
  options: VerifyOptions,
): Promise<VerifiedBackup> {
  const unsealed = unsealedReason(source, options);
  const keys = await verifySmallParts(source);
  const foreignKeys = checkKeys(source, keys, options.masterKeys);
  let format: FormatDescription | undefined;
  let manifest: Manifest | undefined;
  for await (const member of readBackup(source, options)) {
    if (member.kind === 'format') format = member.format;
    else if (member.kind === 'manifest') manifest = member.manifest;
    else await drain(member.content);
  }
  if (format === undefined || manifest === undefined) {
    throw damaged(archiveName, 'its beginning is missing');
  }
  compareWithin(source, format, manifest);
  if (unsealed !== undefined && options.unsealed !== true) throw unsealed;
  return { format, manifest, keys, foreignKeys, unsealed: unsealed?.reason ?? null };
}

/** Verifies a backup without decrypting its archive, so ORCH_BACKUP_KEY is not required.
 *  @throws DamagedBackup that names the damaged part */
export async function verifyStored(source: BackupSource, options: SealOptions): Promise<void> {
  const unsealed = unsealedReason(source, options);
  checkKeys(source, await verifySmallParts(source), options.masterKeys);
  const { sizeBytes, sha256 } = source.summary;
  await drainPart(source, { name: archiveName, sizeBytes, sha256 });
  if (unsealed !== undefined && options.unsealed !== true) throw unsealed;
}

function unsealedReason(
  { summary }: BackupSource,
  { masterKeys }: SealOptions,
): UnsealedBackup | undefined {
  try {
    checkSeal(summary, masterKeys);
    return undefined;
  } catch (error) {
    if (error instanceof UnsealedBackup) return error;
    throw error;
  }
}

/** Verifies that exactly the listed parts exist. Also verifies the content of all parts except the archive.
 *  @returns the wrapped keys */
async function verifySmallParts(source: BackupSource): Promise<readonly WrappedKey[]> {
  const { parts = [] } = source.summary;
  const expected = partNames(source.summary);
  for (const name of expected) {
    if (!source.names.includes(name)) throw damaged(name, 'it is missing');
  }
  for (const name of source.names) {
    if (!expected.includes(name)) throw damaged(name, 'it does not belong to the backup');
  }
  const isComplete = [isKeysName, isNamed(partListName), isNamed(archiveName)].every(
    (fits, index) => fits(parts[index]?.name ?? ''),
  );
  if (parts.length !== 3 || !isComplete) {
    if (source.summary.parts !== undefined) throw damaged(summaryName, 'it lists different parts');
  }
  for (const part of parts) if (part.name !== archiveName) await drainPart(source, part);
  return await readKeys(source);
}

const isNamed = (wanted: string) => (name: string) => name === wanted;

async function drainPart(
  source: BackupSource,
  part: { readonly name: string; readonly sizeBytes: number; readonly sha256: string },
): Promise<void> {
  try {
    await drain(comparedPart(await source.part(part.name), part));
  } catch (error) {
    throw inPart(part.name, error);
  }
}

function compareWithin(
  { summary }: BackupSource,
  format: FormatDescription,
  manifest: Manifest,
): void {
  const pairs = [
    ['format', summary.format, format.format],
    ['backupId', summary.backupId, format.backupId],
    ['kind', summary.kind, format.kind],
    ['createdAt', summary.createdAt, format.createdAt],
    ['version', summary.version, format.version],
    ['position', summary.position, manifest.position],
    ['events', summary.events, manifest.events],
  ] as const;
  for (const [field, said, found] of pairs) {
    if (said === found) continue;
    throw damaged(summaryName, `its field ${field} says ${said}, but ${archiveName} says ${found}`);
  }
}

async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}
