/** A secret store that reads files, such as secrets mounted by Kubernetes or Docker. */
import { constants } from 'node:fs';
import { open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { StoreFailure, type SecretStore } from '#domain/ports/secret-stores.ts';
import { placeProblem, type StorePlace } from '#domain/secret-store/store.ts';
import { maxSecretBytes } from '#domain/secret/secret.ts';
import { checkedValue } from './value.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

export class FileStore implements SecretStore {
  readonly #root: string;

  /** @param root a folder that only the operator chooses */
  constructor(root: string) {
    this.#root = root;
  }

  async read(place: StorePlace, signal: AbortSignal): Promise<string> {
    const problem = placeProblem(place);
    if (problem !== undefined) throw new StoreFailure(problem);
    return await explaining(async () => {
      const root = await realpath(this.#root);
      const path = await realpath(join(root, place.path, place.key));
      if (!isInside(root, path)) throw outside();
      // O_NONBLOCK prevents `open` from blocking if the path is a named pipe.
      const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        // Checks the opened path again, because a folder in the path may have been replaced by a link since `realpath`.
        if (!isInside(root, await readlink(`/proc/self/fd/${file.fd}`))) throw outside();
        signal.throwIfAborted();
        return await contentOf(file);
      } finally {
        await file.close();
      }
    });
  }

  async check(): Promise<void> {
    await explaining(async () => {
      if (!(await stat(this.#root)).isDirectory()) {
        throw new StoreFailure('the configured path is not a folder');
      }
    });
  }
}

async function contentOf(file: FileHandle): Promise<string> {
  if (!(await file.stat()).isFile()) throw new StoreFailure('it is not a regular file');
  // The buffer is larger than the maximum size plus a line break. A file that is too large is therefore detected even
  // if it grows during the read.
  const buffer = Buffer.alloc(maxSecretBytes + 3);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, bytes, buffer.length - bytes);
    bytes += bytesRead;
    if (bytesRead === 0 || bytes === buffer.length) break;
  }
  return checkedValue(withoutLineEnd(decoded(buffer.subarray(0, bytes))));
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new StoreFailure('the file is not valid UTF-8');
  }
}

/** Removes the line break that editors and `echo` append to files. */
function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function isInside(root: string, path: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function outside(): StoreFailure {
  return new StoreFailure('a symbolic link points outside the folder');
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOTDIR: 'the file does not exist',
  EACCES: 'the file cannot be read by this service',
  ELOOP: 'a symbolic link points outside the folder',
  ENAMETOOLONG: 'the path is too long',
};

async function explaining<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    const reason = reasons[code];
    if (reason === undefined) throw cause;
    throw new StoreFailure(reason, { cause });
  }
}
