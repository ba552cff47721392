/** What a webhook was called with, as its run finds it. */
import { writeFile } from 'node:fs/promises';
import { splitWebhookPayload } from '#domain/webhook/payload.ts';

export interface PayloadFile {
  /** Of the body, byte for byte. */
  readonly path: string;
  /** JSON text: headers by lower-case name. */
  readonly headers: string;
}

/** Writes the body, which nobody but this user may read: the sandbox opens it to the run. */
export async function writePayload(path: string, stored: Uint8Array): Promise<PayloadFile> {
  const { headers, body } = splitWebhookPayload(stored);
  await writeFile(path, body, { mode: 0o400 });
  return { path, headers };
}
