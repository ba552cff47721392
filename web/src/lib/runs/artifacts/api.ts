import { readApiError } from '#lib/api/api-error.ts';
import { sendAuthorized } from '#lib/api/client.ts';
import { canBeCut, loadedBytes, type ArtifactKind } from './kinds.ts';

/** The content of an artifact, either complete or cut off after the first bytes. */
export interface ArtifactContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isWhole: boolean;
}

/** Loads as much of an artifact as its preview needs. @throws Error if the artifact is too large for a preview */
export async function previewContent(
  runId: string,
  path: string,
  kind: ArtifactKind,
): Promise<ArtifactContent> {
  const name = path.split('/').map(encodeURIComponent).join('/');
  const response = await sendAuthorized(new Request(`/api/v1/runs/${runId}/artifacts/${name}`));
  if (!response.ok || !response.body) throw await readApiError(response);
  const content = await readStart(response.body, loadedBytes(kind));
  if (!content.isWhole && !canBeCut(kind)) {
    throw new Error('This file is too large for a preview. Download it instead.');
  }
  return content;
}

async function readStart(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<ArtifactContent> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop cancels the download.
    if (size > maxBytes) break;
  }
  const bytes = new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
  return { bytes: bytes.subarray(0, maxBytes), isWhole: size <= maxBytes };
}

/** Decodes the content as text; returns null if it is not UTF-8. */
export function textOf({ bytes, isWhole }: ArtifactContent): string | null {
  if (bytes.includes(0)) return null;
  try {
    // Incomplete content may end inside a character. In streaming mode, the decoder omits an incomplete last character.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return null;
  }
}
