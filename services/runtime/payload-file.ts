/** What a webhook was called with, as its run finds it. */
import { chmod, writeFile } from 'node:fs/promises';
import { splitWebhookPayload } from '#domain/webhook/payload.ts';

export interface PayloadFile {
  /** Of the body, byte for byte. */
  readonly path: string;
  /** JSON text: headers by lower-case name. */
  readonly headers: string;
}

/** Writes the body. @param path in a folder where names cannot be guessed */
export async function writePayload(path: string, stored: Uint8Array): Promise<PayloadFile> {
  const { headers, body } = splitWebhookPayload(stored);
  await writeFile(path, body);
  // The script may be another user.
  await chmod(path, 0o444);
  return { path, headers };
}
