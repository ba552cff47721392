/** The audit trail: who did what, or tried to. */
import { auditProjection } from '#projections/audit/apply.ts';
import { listAudit } from '#projections/audit/queries.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, problem } from '../http/problem.ts';
import { pageQuery } from '../schemas/common.ts';
import { AuditPage } from '../schemas/people.ts';
import { readerCaughtUp } from '../stores/event-position.ts';
import { auditJson } from './views.ts';

const patienceMs = 5000;

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
  requestHeaders: ['Orch-Min-Position'],
  handle: async ({ query, url, header, gone }, { readModels, database }) => {
    if (
      header('Orch-Min-Position') !== undefined &&
      !(await readerCaughtUp(database, auditProjection.name, patienceMs, gone()))
    ) {
      return problem('unavailable', 'The audit trail has not come so far yet.');
    }
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
