/** Streams zip archives. */
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

export interface ArchivedFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly savedAt: Date;
  /** Opens the content. Called once, when the file is added to the archive. */
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

/** Creates an archive. The same files give the same bytes. @throws if a file cannot be opened */
export function zipOf(files: readonly ArchivedFile[]): AsyncIterable<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  for (const { path, sizeBytes, savedAt, open } of files) {
    const options = { mtime: savedAt, mode: 0o100644, size: sizeBytes };
    // Opens the file only when its content is read.
    zip.addReadStream(Readable.from(pieces(open), { objectMode: false }), path, options);
  }
  zip.end();
  return output;
}

async function* pieces(open: ArchivedFile['open']): AsyncGenerator<Uint8Array, void> {
  yield* await open();
}
