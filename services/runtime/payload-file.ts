/** Provides a run's webhook call in the format that the script reads. */
import { writeFile } from 'node:fs/promises';
import { splitWebhookPayload } from '#domain/webhook/payload.ts';

export interface PayloadFile {
  /** The path of a file with the unchanged request body. */
  readonly path: string;
  /** JSON text with the headers, by lowercase name. */
  readonly headers: string;
}

/** Writes the body to a file that only this user can read. The sandbox gives the run access to the file. */
export async function writePayload(path: string, stored: Uint8Array): Promise<PayloadFile> {
  const { headers, body } = splitWebhookPayload(stored);
  await writeFile(path, body, { mode: 0o400 });
  return { path, headers };
}
