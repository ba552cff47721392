/** Verifies the audit trail on request. */
import type { ChainHead } from '#infra/audit/head-signer.ts';
import { saveHead } from '#infra/postgres/operations/audit-heads.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { json, stream } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { AuditVerification, headParameter } from './schema.ts';
import { verifyTrail, type Verification } from './verification.ts';
import { Exact } from '../http/schema.ts';

const verify = operation({
  method: 'get',
  path: '/api/v1/audit/verify',
  operationId: 'verifyAudit',
  summary: 'Verify the audit chain against the events and saved heads',
  description:
    'Recomputes every entry and its hash from the events. `first_broken` is the first entry that ' +
    'differs. Pass `?head=` to detect a truncated trail. With `Accept: application/x-ndjson`, the ' +
    'response reports progress as `{"checked", "entries"}` lines, followed by the result. With `Accept: ' +
    'text/event-stream`, it sends the same data as `progress` and `result` events.',
  tag: 'Audit',
  access: { right: 'audit.read' },
  query: Exact({ head: headParameter }),
  responses: {
    200: {
      description: 'The result of the verification.',
      schema: AuditVerification,
      alternatives: { 'application/x-ndjson': Type.String(), 'text/event-stream': Type.String() },
    },
  },
  readsBehind: [auditProjection.name],
  handle: async ({ query, header, gone }, services) => {
    const { database, readModels } = services;
    const saved = query.head === undefined ? undefined : parseHead(query.head);
    const steps = verifyTrail({ database, readModels, saved, signal: gone() });
    const accept = header('Accept') ?? '';
    if (accept.includes('application/x-ndjson')) {
      const lines = told(steps, services, (_name, value) => `${JSON.stringify(value)}\n`);
      return stream(200, 'application/x-ndjson', lines);
    }
    if (accept.includes('text/event-stream')) {
      const events = told(
        steps,
        services,
        (name, value) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`,
      );
      return stream(200, 'text/event-stream', events);
    }
    let last: Verification | undefined;
    for await (const step of steps) last = step;
    return json(200, await resultOf(last, services));
  },
});

function parseHead(text: string): ChainHead {
  const [seq, hash = ''] = text.split(':');
  return { audit_seq: Number(seq), hash };
}

async function* told(
  steps: AsyncIterable<Verification>,
  services: Services,
  render: (name: 'progress' | 'result', value: unknown) => string,
): AsyncGenerator<Uint8Array, void> {
  let last: Verification | undefined;
  for await (const step of steps) {
    last = step;
    const { checked, entries } = step;
    yield Buffer.from(render('progress', { checked, entries }));
  }
  yield Buffer.from(render('result', await resultOf(last, services)));
}

/** Signs and stores the head of an intact chain. */
async function resultOf(
  last: Verification | undefined,
  { auditSigner, clock, database }: Services,
) {
  const { entries = 0, broken, end } = last ?? {};
  const isHeaded = broken === undefined && end !== undefined && end.audit_seq > 0;
  return {
    valid: broken === undefined,
    entries,
    head: isHeaded ? await saveHead(database, auditSigner, end, clock.now()) : null,
    first_broken: broken?.audit_seq ?? null,
    reason: broken?.reason ?? null,
  };
}

export const auditVerifyOperations: readonly Operation[] = [verify];
