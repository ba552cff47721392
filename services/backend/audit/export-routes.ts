/** Exports the audit trail as a file that can be verified without the server. */
import { newestEntry, saveHead } from '#infra/postgres/operations/audit-heads.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { attachment } from '../http/download.ts';
import { operation, type Operation } from '../http/operation.ts';
import { disclosing, stream } from '../http/reply.ts';
import { exportTrail } from './export.ts';
import { Exact } from '../http/schema.ts';

const mediaTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const;

const query = Exact({
  format: Type.Optional(Type.Enum(['ndjson', 'csv'], { default: 'ndjson' })),
  from_seq: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2 ** 53 - 1,
      default: 1,
      description: 'First entry to export, for example to continue an earlier export.',
    }),
  ),
});

const exportAll = operation({
  method: 'get',
  path: '/api/v1/audit/export',
  operationId: 'exportAudit',
  summary: 'Download the audit trail, oldest first, followed by a signed head',
  description:
    'Verify the export offline with `scripts/verify-audit.ts`. `docs/audit.md` describes the format. ' +
    'Entries of groups that the caller cannot access contain only their sequence numbers and ' +
    'hashes. The export itself is recorded in the audit trail.',
  tag: 'Audit',
  access: { right: 'audit.read' },
  query,
  responses: {
    200: {
      description: 'One line per entry, then one line for the head, as JSON lines or CSV.',
      schema: Type.String(),
      mediaType: 'application/x-ndjson',
      alternatives: { 'text/csv': Type.String() },
      headers: ['Content-Disposition'],
    },
  },
  readsBehind: [auditProjection.name],
  handle: async ({ principal, query: asked }, services) => {
    const { format = 'ndjson', from_seq: fromSeq = 1 } = asked;
    const { auditSigner, clock, database, readModels } = services;
    const newest = await newestEntry(database);
    const head = newest && (await saveHead(database, auditSigner, newest, clock.now()));
    const range = { fromSeq, head, groupIds: visibleGroups(principal) };
    const day = clock.now().toISOString().slice(0, 10);
    const file = stream(200, mediaTypes[format], exportTrail(readModels, format, range), {
      'Content-Disposition': attachment(`audit-${day}.${format}`),
    });
    const detail = `${format}, entries ${fromSeq} to ${newest?.audit_seq ?? 0}`;
    return disclosing(file, { action: 'audit_exported', detail });
  },
});

export const auditExportOperations: readonly Operation[] = [exportAll];
