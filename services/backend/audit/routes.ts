/** Lists the audit trail, which contains the actions of users and the platform, and refused attempts. */
import type { Principal } from '#domain/kernel/actor.ts';
import { listHeads, publicKeys, type HeadPlace } from '#infra/postgres/operations/audit-heads.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import { auditDensity, beginningOfTrail } from '#projections/audit/density.ts';
import { resourceNames } from '#projections/audit/names.ts';
import { auditValues } from '#projections/audit/search.ts';
import { listAudit, type AuditFilter } from '#projections/audit/queries.ts';
import Type, { type Static } from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { attachment } from '../http/download.ts';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageReply, onePage } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { json, text } from '../http/reply.ts';
import { Exact, pageQuery } from '../http/schema.ts';
import {
  AuditDensity,
  AuditHeadPage,
  AuditPage,
  auditQuery,
  AuditValues,
  densityQuery,
  keyParameter,
} from './schema.ts';
import { auditJson, errorsOfEntries } from './view.ts';

const tag = 'Audit';
const access = { right: 'audit.read' } as const;
const defaultBuckets = 120;

const list = operation({
  method: 'get',
  path: '/api/v1/audit',
  operationId: 'listAudit',
  summary: 'List the audit trail, newest first',
  description:
    'Administrators see all entries. Other users with the audit right see the entries of their groups. ' +
    'Entries without a group, such as sign-ins, are visible to administrators only. New events appear ' +
    'with a short delay.',
  tag,
  access,
  query: auditQuery,
  responses: onePage(AuditPage),
  readsBehind: [auditProjection.name],
  handle: async ({ principal, query, url }, services) => {
    const { readModels } = services;
    const { limit = defaultLimit, cursor, order = 'desc' } = query;
    const filter = filterOf(principal, query);
    const request = { list: 'audit', filter: { order, ...filter }, url, limit, cursor };
    const after = keyOf(request, parseSeq);
    if (isProblem(after)) return after;
    const page = { order, after: after.key, limit: limit + 1 };
    const rows = await listAudit(readModels, filter, page);
    const [names, errors] = await Promise.all([
      resourceNames(
        readModels,
        rows.map(({ resource }) => resource),
      ),
      errorsOfEntries(rows, services),
    ]);
    return pageReply(
      request,
      rows,
      (row) => String(row.audit_seq),
      (row) => ({
        ...auditJson(row),
        resource_name: names.get(row.resource) ?? null,
        ...(errors.get(row.event_id) ?? { error_type: null, error_group_id: null }),
      }),
    );
  },
});

function filterOf(principal: Principal, query: Static<typeof auditQuery>): AuditFilter {
  const { actor, people, q, action, resource, outcome, from, to, position } = query;
  return {
    groupIds: visibleGroups(principal),
    actor,
    people,
    action,
    text: q,
    resource,
    outcome,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
    fromPosition: position ?? query.from_position,
    toPosition: position ?? query.to_position,
  };
}

function parseSeq(seq: string): number | undefined {
  return /^[1-9]\d{0,15}$/.test(seq) ? Number(seq) : undefined;
}

const heads = operation({
  method: 'get',
  path: '/api/v1/audit/heads',
  operationId: 'listAuditHeads',
  summary: 'List the signed heads of the audit chain, newest first',
  description:
    'A head is saved every few minutes if there are new entries, and with each export and ' +
    'verification. Keep copies of heads outside the platform. A copy of a head proves whether the ' +
    'chain still contains the entries that the head covers.',
  tag,
  access,
  query: Exact(pageQuery),
  responses: onePage(AuditHeadPage),
  handle: async ({ query: { limit = defaultLimit, cursor }, url }, { database }) => {
    const request = { list: 'audit-heads', filter: null, url, limit, cursor };
    const after = keyOf(request, parseHeadPlace);
    if (isProblem(after)) return after;
    const rows = await listHeads(database, after.key, limit + 1);
    return pageReply(
      request,
      rows,
      (row) => `${row.audit_seq} ${row.key_id}`,
      (row) => row,
    );
  },
});

function parseHeadPlace(place: string): HeadPlace | undefined {
  const [, seq, keyId] = /^([1-9]\d{0,15}) ([0-9a-f]{16})$/.exec(place) ?? [];
  return seq === undefined || keyId === undefined ? undefined : { auditSeq: Number(seq), keyId };
}

const key = operation({
  method: 'get',
  path: '/api/v1/audit/key',
  operationId: 'readAuditKey',
  summary: 'Download the public key that verifies signed heads of the audit chain',
  description:
    'The key is in PEM format. To download the key of a head that was signed with an earlier key, ' +
    "pass the head's `key_id`.",
  tag,
  access,
  query: Exact({ key_id: keyParameter }),
  responses: {
    200: {
      description: 'The public key.',
      schema: Type.String(),
      mediaType: 'application/x-pem-file',
      headers: ['Content-Disposition'],
    },
  },
  refusals: ['not_found'],
  handle: async ({ query }, { auditSigner, database }) => {
    const { key_id: keyId = auditSigner.keyId } = query;
    const pem =
      keyId === auditSigner.keyId ? auditSigner.publicKey : (await publicKeys(database)).get(keyId);
    if (pem === undefined) return notFound;
    return text(200, 'application/x-pem-file', pem, {
      'Content-Disposition': attachment(`audit-${keyId}.pem`),
    });
  },
});

const density = operation({
  method: 'get',
  path: '/api/v1/audit/density',
  operationId: 'auditDensity',
  summary: 'Count the entries of the audit trail over time',
  description:
    'Counts the entries that `/audit` lists for the same caller. The response time does not ' +
    'depend on the size of the audit trail.',
  tag,
  access,
  query: densityQuery,
  responses: { 200: { description: 'The buckets that contain entries.', schema: AuditDensity } },
  readsBehind: [auditProjection.name],
  handle: async ({ principal, query }, { readModels, clock }) => {
    const to = query.to === undefined ? clock.now() : new Date(query.to);
    const asked = query.from ?? (await beginningOfTrail(readModels));
    // Makes the range valid even if the trail is empty.
    const from = asked === undefined ? new Date(to.getTime() - 1000) : new Date(asked);
    if (from >= to) {
      return problem('invalid_parameter', 'The parameter "from" must be earlier than "to".');
    }
    const { buckets = defaultBuckets, actor } = query;
    const filter = { groupIds: visibleGroups(principal), actor };
    const bucketMs = Math.ceil((to.getTime() - from.getTime()) / buckets);
    const found = await auditDensity(readModels, { filter, from, to, bucketMs });
    const items = found.buckets.map(({ bucket, entries, not_accepted }) => ({
      time: new Date(from.getTime() + bucket * bucketMs),
      entries,
      not_accepted,
    }));
    const { estimated } = found;
    return json(200, { from, to, bucket_seconds: bucketMs / 1000, estimated, items });
  },
});

const values = operation({
  method: 'get',
  path: '/api/v1/audit/values',
  operationId: 'listAuditValues',
  summary: 'List the actors and actions of the audit trail',
  description:
    'Returns the values that occur in the entries that `/audit` lists for the same caller, ' +
    'sorted. Use them as filter values.',
  tag,
  access,
  responses: { 200: { description: 'Actors and actions.', schema: AuditValues } },
  readsBehind: [auditProjection.name],
  handle: async ({ principal }, { readModels }) => {
    const groupIds = visibleGroups(principal);
    const [actors, actions] = await Promise.all([
      auditValues(readModels, 'actor', groupIds),
      auditValues(readModels, 'action', groupIds),
    ]);
    return json(200, { actors, actions });
  },
});

export const auditOperations: readonly Operation[] = [list, density, values, heads, key];
