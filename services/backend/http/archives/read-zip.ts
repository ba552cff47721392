/** Reads an untrusted zip archive. Ignores the declared sizes. Counts entries and bytes during decompression, and
 *  stops at the limits. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { FileVersion } from '#domain/script/events.ts';
import { newPathProblem } from '#domain/script/path.ts';
import { defaultSettings, maxFileBytes } from '#domain/script/settings.ts';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { problem, type Problem } from '../problem.ts';

const maxEntries = 10_000;
const maxUnpackedBytes = defaultSettings.storageQuotaBytes;
/** The highest permitted compression ratio. Legitimate content rarely exceeds this ratio, except in small archives. */
const maxRatio = 200;
const unsuspiciousBytes = 1024 * 1024;

export interface Archive {
  readonly files: readonly FileVersion[];
  /** Decompresses the file with the given hash. */
  readonly open: (sha256: string) => Promise<AsyncIterable<Uint8Array>>;
  /** Closes the archive. Must be called once. */
  readonly close: () => void;
}

/** Opens the archive at `path` and reads it completely.
 *  @returns the problem if the archive is refused, in which case it is already closed */
export async function readZip(path: string): Promise<Archive | Problem> {
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(path, { autoClose: false, lazyEntries: true, decodeStrings: false });
    const opened = zip;
    const found = await inspect(opened);
    const entries = new Map(found.map(({ file, entry }) => [file.sha256, entry]));
    return {
      files: found.map(({ file }) => file),
      open: async (sha256) => {
        const entry = entries.get(sha256);
        if (entry === undefined) throw new Error(`the archive does not contain ${sha256}`);
        return await opened.openReadStreamPromise(entry);
      },
      close: () => opened.close(),
    };
  } catch (error) {
    zip?.close();
    if (error instanceof Untaken) return error.problem;
    return damaged;
  }
}

const damaged = problem(
  'validation_failed',
  'The archive is damaged, truncated or not a zip archive.',
);

/** The reason for refusing an archive. */
class Untaken extends Error {
  readonly problem: Problem;
  constructor(code: Problem['code'], detail: string) {
    super(detail);
    this.problem = problem(code, detail);
  }
}

interface Found {
  readonly file: FileVersion;
  readonly entry: Entry;
}

async function inspect(zip: ZipFile): Promise<readonly Found[]> {
  const found = new Map<string, Found>();
  let entries = 0;
  let unpackedBytes = 0;
  for await (const entry of zip.eachEntry()) {
    entries += 1;
    if (entries > maxEntries) {
      throw new Untaken('payload_too_large', `An archive may have at most ${maxEntries} entries.`);
    }
    const path = pathOf(entry);
    if (path === undefined) continue;
    if (found.has(path))
      throw new Untaken('invalid_path', `"${path}" appears twice in the archive.`);
    const file = await measure(zip, entry, path, (bytes) => {
      unpackedBytes += bytes;
      checkTotal(unpackedBytes, zip.fileSize);
    });
    found.set(path, { file, entry });
  }
  return [...found.values()];
}

/** The path of a file; `undefined` for folders and for macOS metadata. */
function pathOf(entry: Entry): string | undefined {
  const name = nameOf(entry);
  const isFolder = name.endsWith('/');
  const path = isFolder ? name.slice(0, -1) : name;
  const unusable = newPathProblem(path);
  if (unusable !== undefined) {
    throw new Untaken(
      'invalid_path',
      `The entry ${JSON.stringify(name)} is not allowed: ${unusable}.`,
    );
  }
  const refused = kindProblem(entry, isFolder);
  if (refused !== undefined) {
    throw new Untaken('validation_failed', `The entry "${name}" is not allowed: ${refused}.`);
  }
  const isLitter = path.startsWith('__MACOSX/') || /(^|\/)\.DS_Store$/.test(path);
  return isFolder || isLitter ? undefined : path;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

// Accepts names in UTF-8 even without the UTF-8 flag, because macOS does not set the flag. Other encodings are refused.
function nameOf({ fileNameRaw }: Entry): string {
  try {
    // Normalizes names, because macOS uses decomposed characters.
    return utf8.decode(fileNameRaw).normalize('NFC');
  } catch {
    throw new Untaken('invalid_path', 'The archive contains a name that is not UTF-8.');
  }
}

function kindProblem(entry: Entry, isFolder: boolean): string | undefined {
  if (entry.isEncrypted()) return 'it is encrypted';
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
    return 'its compression method is not supported';
  }
  // The upper 16 bits contain the Unix mode, if present.
  const type = (entry.externalFileAttributes >>> 16) & 0o170000;
  const plain = isFolder ? 0o040000 : 0o100000;
  return type === 0 || type === plain ? undefined : 'it is not a regular file';
}

/** Decompresses an entry and counts its bytes. */
async function measure(
  zip: ZipFile,
  entry: Entry,
  path: string,
  count: (bytes: number) => void,
): Promise<FileVersion> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let checksum = 0;
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    const bytes = chunk as Uint8Array;
    sizeBytes += bytes.length;
    if (sizeBytes > maxFileBytes) {
      const detail = `"${path}" is larger than ${maxFileBytes} bytes, the limit for a file.`;
      throw new Untaken('payload_too_large', detail);
    }
    count(bytes.length);
    hash.update(bytes);
    checksum = crc32(bytes, checksum);
  }
  if (checksum !== entry.crc32) throw new Error('a file does not match its checksum');
  return { path, sha256: hash.digest('hex'), sizeBytes };
}

function checkTotal(unpackedBytes: number, archiveBytes: number): void {
  if (unpackedBytes > maxUnpackedBytes) {
    const detail = `The unpacked archive may have at most ${maxUnpackedBytes} bytes.`;
    throw new Untaken('payload_too_large', detail);
  }
  if (unpackedBytes > unsuspiciousBytes && unpackedBytes > archiveBytes * maxRatio) {
    const detail = `The archive unpacks to more than ${maxRatio} times its compressed size.`;
    throw new Untaken('payload_too_large', detail);
  }
}
