/** Builds responses that download a file, which clients may cache. */
import Type from 'typebox';
import type { ResponseRule } from './operation.ts';
import { stream, type Reply } from './reply.ts';

/** The responses of a download that has an `ETag`. */
export const downloadResponses: Readonly<Record<200 | 304, ResponseRule>> = {
  200: {
    description: 'The content.',
    schema: Type.String({ format: 'binary' }),
    mediaType: 'application/octet-stream',
    headers: ['ETag', 'Content-Disposition'],
  },
  304: { description: 'Not modified.' },
};

/** Responds with the file at `path` as an attachment. */
export function download(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>>,
): Reply {
  return stream(200, 'application/octet-stream', chunks, {
    ...headers,
    'Content-Disposition': attachment(path.slice(path.lastIndexOf('/') + 1)),
    'Cache-Control': 'private, no-cache',
  });
}

/** `Content-Disposition` of a download (RFC 6266): the name in ASCII and in full. */
export function attachment(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const full = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${full}`;
}
