/** Reads the members of a backup's archive and checks each member against the list of parts. */
import { createHash } from 'node:crypto';
import { damaged, Damage, DamagedBackup, inPart } from './damaged.ts';
import { archiveName, partListName, type BackupSource } from './files.ts';
import {
  checksumLine,
  formatMember,
  manifestMember,
  parseJson,
  type FormatDescription,
  type Manifest,
} from './format.ts';
import { readPartList, type ListedPart } from './parts.ts';
import { unseal } from './sealing.ts';
import { readTar, type TarMember } from './tar.ts';

/** The size limit for members that are read into memory as a whole: table parts, lists and the manifest. */
const maxMemberBytes = 64 * 1024 * 1024;

export type BackupMember =
  | { readonly kind: 'format'; readonly format: FormatDescription }
  | { readonly kind: 'manifest'; readonly manifest: Manifest }
  | ({ readonly kind: 'content' } & TarMember);

export interface ReadOptions {
  /** The encryption key for backups. Undefined if backups are not encrypted. */
  readonly key: Uint8Array | undefined;
  /** Receives the number of bytes read from the archive. */
  readonly onRead?: (bytes: number) => void | Promise<void>;
}

/** Yields every member that has content. The format description comes first, the manifest last. A member has been
 *  verified when the next member is requested.
 *  @throws DamagedBackup that names the damaged part */
export async function* readBackup(
  source: BackupSource,
  options: ReadOptions,
): AsyncGenerator<BackupMember> {
  const { summary } = source;
  if (summary.encrypted && options.key === undefined) {
    throw new DamagedBackup('The backup is encrypted. Set ORCH_BACKUP_KEY.');
  }
  const stored = comparedWhole(await source.part(archiveName), source, options.onRead);
  const archive = opened(stored, summary.encrypted, options.key);
  const members =
    summary.parts === undefined
      ? checkedByLists(readTar(archive))
      : checkedByParts(readTar(archive), readPartList(await source.part(partListName)));
  let isWhole = false;
  for await (const member of members) {
    if (member.name === manifestMember) {
      isWhole = true;
      const manifest = parseJson<Manifest>(await wholeMember(member), member.name);
      yield { kind: 'manifest', manifest };
    } else if (member.name === formatMember) {
      const format = parseJson<FormatDescription>(await wholeMember(member), member.name);
      yield { kind: 'format', format };
    } else {
      yield { kind: 'content', ...member };
    }
  }
  if (!isWhole) throw damaged(manifestMember, 'it is missing');
}

/** Yields each member. When the next member is requested, verifies the previous one against its line in the list. */
async function* checkedByParts(
  members: AsyncGenerator<TarMember>,
  list: AsyncGenerator<ListedPart>,
): AsyncGenerator<TarMember> {
  let expected: ListedPart | undefined;
  try {
    for (;;) {
      expected = (await list.next()).value as ListedPart | undefined;
      const found = (await members.next()).value as TarMember | undefined;
      if (found === undefined && expected === undefined) return;
      if (found === undefined) throw new Damage('it is missing');
      if (expected === undefined) throw damaged(found.name, 'it does not belong to the backup');
      if (found.name !== expected.name) {
        throw new Damage(`it is missing; found ${found.name} instead`);
      }
      const hash = createHash('sha256');
      yield { ...found, content: hashed(found, hash) };
      if (found.sizeBytes !== expected.sizeBytes || hash.digest('hex') !== expected.sha256) {
        throw new Damage('its content was changed');
      }
    }
  } catch (error) {
    throw inPart(expected?.name ?? archiveName, error);
  } finally {
    await members.return(undefined);
    await list.return(undefined);
  }
}

/** Verifies an archive without a list of parts. In such an archive, each checksum list follows the members that it
 *  covers, and the last member contains a checksum of all lists. */
async function* checkedByLists(members: AsyncGenerator<TarMember>): AsyncGenerator<TarMember> {
  const digest = createHash('sha256');
  let count = 0;
  let pending: string[] = [];
  let last = archiveName;
  try {
    for await (const member of members) {
      if (member.name.startsWith('checksums/')) {
        compare(pending, (await wholeMember(member)).toString('utf8'));
        pending = [];
      } else if (member.name === manifestMember) {
        const bytes = await wholeMember(member);
        const manifest = parseJson<Manifest>(bytes, member.name);
        if (manifest.members !== count || manifest.digest !== digest.digest('hex')) {
          throw damaged(member.name, 'it does not match the members before it');
        }
        yield { ...member, content: piecesOf(bytes) };
      } else {
        const hash = createHash('sha256');
        yield { ...member, content: hashed(member, hash) };
        const line = checksumLine(member.name, hash.digest('hex'));
        count += 1;
        digest.update(line);
        pending.push(line);
      }
      last = `${archiveName} after ${member.name}`;
    }
  } catch (error) {
    throw inPart(last, error);
  }
}

function compare(found: readonly string[], list: string): void {
  const written = list.split('\n').slice(0, -1);
  for (const [index, line] of written.entries()) {
    const [, name = ''] = line.split('  ');
    if (found[index] !== `${line}\n`) throw damaged(name, 'its content was changed');
  }
  if (found.length > written.length) throw new Damage('it has extra content');
}

/** Reads a small member into memory.
 *  @throws Damage if the member is too large */
export async function wholeMember({
  sizeBytes,
  content,
}: Pick<TarMember, 'sizeBytes' | 'content'>): Promise<Buffer> {
  if (sizeBytes > maxMemberBytes) throw new Damage('it is too large');
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

function opened(
  stored: AsyncIterable<Uint8Array>,
  encrypted: boolean,
  key: Uint8Array | undefined,
): AsyncIterable<Uint8Array> {
  return encrypted && key !== undefined ? unseal(key, stored) : stored;
}

/** Streams the stored archive. After the last byte, compares the archive with the manifest. */
async function* comparedWhole(
  archive: AsyncIterable<Uint8Array>,
  { summary }: BackupSource,
  onRead: ReadOptions['onRead'],
): AsyncGenerator<Uint8Array> {
  const compared = comparedPart(archive, { name: archiveName, ...summary });
  let size = 0;
  for await (const chunk of compared) {
    size += chunk.byteLength;
    yield chunk;
    await onRead?.(size);
  }
}

/** Streams a stored part, then verifies the part against its manifest entry.
 *  @throws DamagedBackup on a mismatch; Damage if the part is truncated, so that the caller can add the part's name */
export async function* comparedPart(
  chunks: AsyncIterable<Uint8Array>,
  { name, sizeBytes, sha256 }: ListedPart,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    size += chunk.byteLength;
    yield chunk;
  }
  if (size < sizeBytes) throw new Damage('it is truncated');
  if (size > sizeBytes) throw damaged(name, 'data was added after its end');
  if (hash.digest('hex') !== sha256) throw damaged(name, 'its content was changed');
}

/** Reports errors to the consumer of the content. The errors name the member. */
async function* hashed(
  { name, content }: TarMember,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of content) {
      hash.update(piece);
      yield piece;
    }
  } catch (error) {
    throw inPart(name, error);
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
