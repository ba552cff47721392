/** Writes zip archives, piece by piece. */
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

export interface ArchivedFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly savedAt: Date;
  /** Asked once, when its turn comes. */
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

/** The archive's bytes; the same files give the same bytes. @throws what opening a file throws */
export function zipOf(files: readonly ArchivedFile[]): AsyncIterable<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  for (const { path, sizeBytes, savedAt, open } of files) {
    const options = { mtime: savedAt, mode: 0o100644, size: sizeBytes };
    // Nothing is opened before it is read.
    zip.addReadStream(Readable.from(pieces(open), { objectMode: false }), path, options);
  }
  zip.end();
  return output;
}

async function* pieces(open: ArchivedFile['open']): AsyncGenerator<Uint8Array, void> {
  yield* await open();
}
