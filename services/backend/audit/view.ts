/** Formats audit entries for API responses. */
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import type { AuditTable } from '#projections/audit/table.ts';
import { errorGroupsOf } from '#projections/error-groups/queries.ts';
import type { Services } from '../services.ts';

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

/** The errors of the failed runs that the entries describe, by event ID. */
export async function errorsOfEntries(
  entries: readonly AuditTable[],
  { database, readModels }: Pick<Services, 'database' | 'readModels'>,
) {
  const runs = new Map(
    entries
      .filter(({ action, outcome }) => action === 'run_finished' && outcome === 'failed')
      .map(({ event_id: id, resource }) => [id, resource.slice('run-'.length)]),
  );
  const runIds = [...runs.values()];
  const [reports, groups] = await Promise.all([
    readReports(database, runIds),
    errorGroupsOf(readModels, runIds),
  ]);
  return new Map(
    [...runs].map(([id, runId]) => [
      id,
      {
        error_type: reports.get(runId)?.error?.type ?? null,
        error_group_id: groups.get(runId)?.errorGroupId ?? null,
      },
    ]),
  );
}
