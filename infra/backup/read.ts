/** Reads a backup and checks it on the way: every member, their order, and that none is missing. */
import { createHash } from 'node:crypto';
import { DamagedBackup, NewerBackup } from './damaged.ts';
import type { BackupSource } from './files.ts';
import {
  backupFormat,
  checksumLine,
  formatMember,
  manifestMember,
  parseJson,
  type FormatDescription,
  type Manifest,
} from './format.ts';
import { unseal } from './sealing.ts';
import { readTar, type TarMember } from './tar.ts';

/** Of what is read whole: parts of tables, lists, the manifest. */
const maxMemberBytes = 64 * 1024 * 1024;

export type BackupMember =
  | { readonly kind: 'format'; readonly format: FormatDescription }
  | { readonly kind: 'manifest'; readonly manifest: Manifest }
  | ({ readonly kind: 'content' } & TarMember);

export interface ReadOptions {
  /** What it is encrypted with, if it is. */
  readonly key: Uint8Array | undefined;
  /** Told how many bytes of the archive were read. */
  readonly onRead?: (bytes: number) => void | Promise<void>;
}

/** Every member but the lists of checksums, in their order: the format first, the manifest last. What was given
 *  before an error is not to be trusted.
 *  @throws DamagedBackup with a sentence that names what is wrong */
export async function* readBackup(
  source: BackupSource,
  options: ReadOptions,
): AsyncGenerator<BackupMember> {
  const { summary } = source;
  if (summary.format > backupFormat) throw newer(summary.version);
  if (summary.encrypted && options.key === undefined) {
    throw new DamagedBackup('It is encrypted, and ORCH_BACKUP_KEY is not set.');
  }
  const stored = checked(await source.archive(), source, options.onRead);
  const archive = opened(stored, summary.encrypted, options.key);
  const digest = createHash('sha256');
  let members = 0;
  let pending: string[] = [];
  let isWhole = false;
  for await (const member of readTar(archive)) {
    const { name } = member;
    if (isWhole) throw new DamagedBackup('Something was added to it.');
    if (name === manifestMember) {
      const manifest = parseJson<Manifest>(await wholeMember(member), name);
      if (manifest.members !== members || manifest.digest !== digest.digest('hex')) {
        throw new DamagedBackup('A part of it is missing, or is not what was written.');
      }
      isWhole = true;
      yield { kind: 'manifest', manifest };
    } else if (name.startsWith('checksums/')) {
      compare(pending, (await wholeMember(member)).toString('utf8'));
      pending = [];
    } else {
      const hash = createHash('sha256');
      yield* given({ ...member, content: hashed(member.content, hash) });
      const line = checksumLine(name, hash.digest('hex'));
      members += 1;
      digest.update(line);
      pending.push(line);
    }
  }
  if (!isWhole) throw new DamagedBackup('Its end is missing.');
}

/** Reads all of a backup, and keeps nothing of it.
 *  @returns what it says of itself
 *  @throws DamagedBackup with a sentence that names what is wrong */
export async function verifyBackup(
  source: BackupSource,
  options: ReadOptions,
): Promise<{ readonly format: FormatDescription; readonly manifest: Manifest }> {
  let format: FormatDescription | undefined;
  let manifest: Manifest | undefined;
  for await (const member of readBackup(source, options)) {
    if (member.kind === 'format') format = member.format;
    else if (member.kind === 'manifest') manifest = member.manifest;
    else await drain(member.content);
  }
  if (format === undefined || manifest === undefined) throw new DamagedBackup('It is not whole.');
  return { format, manifest };
}

/** Compares what is stored with what is said of it, which needs no key.
 *  @throws DamagedBackup with a sentence that names what is wrong */
export async function verifyStored(source: BackupSource): Promise<void> {
  await drain(checked(await source.archive(), source, undefined));
}

/** All bytes of a member that is known to be small.
 *  @throws DamagedBackup where it is not */
export async function wholeMember({ name, sizeBytes, content }: TarMember): Promise<Buffer> {
  if (sizeBytes > maxMemberBytes) throw new DamagedBackup(`${name} in it is too large.`);
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** What somebody says who has an older program than the one that made it. */
export function newer(version: string): NewerBackup {
  return new NewerBackup(
    `It was made by version ${version}, which is newer than this one: update this installation first.`,
  );
}

async function* given(member: TarMember): AsyncGenerator<BackupMember> {
  if (member.name !== formatMember) {
    yield { kind: 'content', ...member };
    return;
  }
  const format = parseJson<FormatDescription>(await wholeMember(member), member.name);
  if (format.format > backupFormat) throw newer(format.version);
  yield { kind: 'format', format };
}

/** The lists of checksums come behind what they are of, so that a fault is named by its member. */
function compare(found: readonly string[], list: string): void {
  const written = list.split('\n').slice(0, -1);
  for (const [index, line] of written.entries()) {
    const [, name = ''] = line.split('  ');
    if (found[index] !== `${line}\n`) throw new DamagedBackup(`${name} in it is damaged.`);
  }
  if (found.length > written.length) throw new DamagedBackup('Something was added to it.');
}

function opened(
  stored: AsyncIterable<Uint8Array>,
  encrypted: boolean,
  key: Uint8Array | undefined,
): AsyncIterable<Uint8Array> {
  return encrypted && key !== undefined ? unseal(key, stored) : stored;
}

/** The archive as it is stored, compared with what is said of it at its end. */
async function* checked(
  archive: AsyncIterable<Uint8Array>,
  { summary }: BackupSource,
  onRead: ReadOptions['onRead'],
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of archive) {
    hash.update(chunk);
    size += chunk.byteLength;
    yield chunk;
    await onRead?.(size);
  }
  if (size < summary.sizeBytes) throw new DamagedBackup('Its end is missing.');
  if (size > summary.sizeBytes) throw new DamagedBackup('Something was added to it.');
  if (hash.digest('hex') !== summary.sha256) {
    throw new DamagedBackup('It is not what was written: its SHA-256 is another.');
  }
}

async function* hashed(
  content: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    hash.update(piece);
    yield piece;
  }
}

async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}
