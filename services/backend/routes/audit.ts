/** The audit trail: who did what, or tried to. */
import { auditProjection } from '#projections/audit/apply.ts';
import { listAudit } from '#projections/audit/queries.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem } from '../http/problem.ts';
import { pageQuery } from '../schemas/common.ts';
import { AuditPage } from '../schemas/people.ts';
import { auditJson } from './views.ts';

const list = operation({
  method: 'get',
  path: '/api/v1/audit',
  operationId: 'listAudit',
  summary: 'List the audit trail, newest first',
  description:
    'For administrators, and for whoever may audit. It follows the events within moments.',
  tag: 'Audit',
  access: { right: 'audit.read' },
  query: Type.Object(pageQuery, { additionalProperties: false }),
  responses: { 200: { description: 'A page.', schema: AuditPage, headers: ['Link'] } },
  refusals: ['invalid_cursor'],
  readsBehind: [auditProjection.name],
  handle: async ({ query, url }, { readModels }) => {
    const request = { list: 'audit', filter: null, url, limit: query.limit, cursor: query.cursor };
    const before = keyOf(request, parseSeq);
    if (isProblem(before)) return before;
    const rows = await listAudit(readModels, before.key, (query.limit ?? defaultLimit) + 1);
    return pageReply(request, rows, (row) => String(row.audit_seq), auditJson);
  },
});

function parseSeq(text: string): number | undefined {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}

export const auditOperations: readonly Operation[] = [list];
