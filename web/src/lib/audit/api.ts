import { readApiError } from '#lib/api/api-error.ts';
import { client, sendAuthorized, unwrap } from '#lib/api/client.ts';
import type {
  AuditEntry,
  AuditFilter,
  AuditValues,
  AuditVerification,
  Page,
} from '#lib/api/types.ts';

/** Lists audit entries, newest first. */
export function listAudit(filter: AuditFilter, cursor: string | null): Promise<Page<AuditEntry>> {
  const query = { ...filter, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/audit', { params: { query } }));
}

/** Returns the actors and actions that occur in the audit trail. */
export function auditValues(): Promise<AuditValues> {
  return unwrap(client.GET('/api/v1/audit/values', {}));
}

/** The progress of an audit trail verification. */
export interface VerificationProgress {
  checked: number;
  entries: number;
}

/** Verifies the whole hash chain.
 *  @param head a saved chain head, `<audit_seq>:<hash>`, that the chain must contain
 *  @param onProgress called repeatedly with the progress
 *  @throws ApiError; TypeError if the connection breaks before the result */
export async function verifyAudit(
  head: string | null,
  onProgress: (progress: VerificationProgress) => void,
): Promise<AuditVerification> {
  const headers = { accept: 'application/x-ndjson' };
  const query = head === null ? '' : `?${new URLSearchParams({ head })}`;
  const response = await sendAuthorized(new Request(`/api/v1/audit/verify${query}`, { headers }));
  if (!response.ok || !response.body) throw await readApiError(response);
  for await (const line of linesOf(response.body)) {
    const told = JSON.parse(line) as VerificationProgress | AuditVerification;
    if ('valid' in told) return told;
    onProgress(told);
  }
  throw new TypeError('The verification was interrupted. Try again.');
}

async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter(Boolean);
  }
}

/** Exports the whole audit trail with its signed head. */
export async function exportAudit(format: 'ndjson' | 'csv'): Promise<Blob> {
  const response = await sendAuthorized(new Request(`/api/v1/audit/export?format=${format}`));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}

/** Returns the latest signed chain heads, in the format of the offline verifier. */
export async function auditHeads(): Promise<Blob> {
  const params = { query: { limit: 200 } };
  const heads = await unwrap(client.GET('/api/v1/audit/heads', { params }));
  return new Blob([JSON.stringify(heads)], { type: 'application/json' });
}

/** Returns the public key that verifies signed chain heads, in PEM format. */
export async function auditKey(): Promise<Blob> {
  const response = await sendAuthorized(new Request('/api/v1/audit/key'));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}
