/** Extracts the file from a form (RFC 7578). */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { spoolToFile, type SpooledFile } from '../wire/spool.ts';

export interface FormFile {
  readonly file: SpooledFile;
  /** The file name that the client specified. */
  readonly name: string;
}

/** Reads the field `file` and skips other fields.
 *  @returns `undefined` if the form has no such field, or is truncated or malformed
 *  @throws the error from `chunks`, after removing the stored data */
export async function formFile(
  chunks: AsyncIterable<Uint8Array>,
  contentType: string,
): Promise<FormFile | undefined> {
  const form = parserOf(contentType);
  if (form === undefined) return undefined;
  let found: { readonly content: Readable; readonly name: string } | undefined;
  let spooled: Promise<SpooledFile | undefined> = Promise.resolve(undefined);
  form.on('file', (field, content, name) => {
    // Prevents an unhandled error. A reader of the file also receives the error.
    content.on('error', () => undefined);
    if (field !== 'file' || found !== undefined) {
      content.resume();
      return;
    }
    found = { content, name };
    spooled = spoolToFile(content).catch(() => undefined);
  });
  let failure: Error | undefined;
  const source = Readable.from(chunks, { objectMode: false });
  source.once('error', (error: Error) => {
    failure = error;
  });
  try {
    await pipeline(source, form);
    const file = await spooled;
    return file && found && { file, name: found.name };
  } catch {
    found?.content.destroy();
    await (await spooled)?.remove();
    if (failure !== undefined) throw failure;
    return undefined;
  }
}

function parserOf(contentType: string) {
  try {
    const limits = { files: 1, fields: 16, fieldSize: 1024 };
    return new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch {
    return undefined; // The header has no boundary.
  }
}
