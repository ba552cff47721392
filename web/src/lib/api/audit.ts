import { readApiError } from './api-error.ts';
import { client, sendAuthorized, unwrap } from './client.ts';
import type { AuditEntry, AuditFilter, AuditVerification, Page } from './types.ts';

/** Newest first. */
export function listAudit(filter: AuditFilter, cursor: string | null): Promise<Page<AuditEntry>> {
  const query = { ...filter, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/audit', { params: { query } }));
}

/** Computes the whole chain anew. */
export function verifyAudit(): Promise<AuditVerification> {
  return unwrap(client.GET('/api/v1/audit/verify', {}));
}

/** The whole trail, with its signed head. */
export async function exportAudit(format: 'ndjson' | 'csv'): Promise<Blob> {
  const response = await sendAuthorized(new Request(`/api/v1/audit/export?format=${format}`));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}
