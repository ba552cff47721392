/** Entries of the audit trail as the API shows them. */
import type { AuditTable } from '#projections/audit/table.ts';

export function auditJson(entry: AuditTable) {
  return {
    audit_seq: entry.audit_seq,
    time: entry.time,
    actor: entry.actor,
    action: entry.action,
    resource: entry.resource,
    outcome: entry.outcome,
    detail: entry.detail,
    ip: entry.ip,
    correlation_id: entry.correlation_id,
    causation_id: entry.causation_id,
    event_id: entry.event_id,
    event_position: entry.event_position,
    event_hash: entry.event_hash,
    prev_hash: entry.prev_hash,
    hash: entry.hash,
  };
}
