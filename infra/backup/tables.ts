/** The content of each table in a backup. Read models are rebuilt from the events. */
import type { Queryable } from '#infra/postgres/database.ts';
import type { Projection } from '#projections/projection.ts';

/** Data that the events do not contain (docs/adr/0003-what-stays-outside-the-events.md). */
export const copiedTables: readonly string[] = [
  'audit_heads',
  'audit_keys',
  'commands',
  'credentials',
  'destroyed_keys',
  'environment_locks',
  'idempotency_answers',
  'notice_reads',
  'payloads',
  'retention_later',
  'retention_progress',
  'run_log_chunks',
  'run_reports',
  'run_samples',
  'run_spans',
  'script_state',
  'webhook_misses',
];

/** Data that a backup stores in a special format: events in order, data keys as a part that can shrink, checkpoints of
 *  reactions as numbers of events. */
export const specialTables: readonly string[] = ['events', 'data_keys', 'checkpoints'];

/** Data that is temporary, belongs to one installation, or is derived from other tables. */
export const omittedTables: readonly string[] = [
  'backup_work',
  'login_failures',
  'one_time_codes',
  'passkey_challenges',
  'projection_versions',
  'replay_marks',
  'repository_checks',
  'runtimes',
  'schema_migrations',
  'session_tokens',
  'snapshots',
  'streams',
  'webhook_calls',
  'ws_tickets',
];

/** Tables that are not listed here: a backup would not contain them. */
export async function unlistedTables(
  db: Queryable,
  projections: readonly Projection[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`,
    [],
  );
  const readModels = projections.flatMap(({ tables }) => tables);
  const known: readonly string[] = [
    ...copiedTables,
    ...specialTables,
    ...omittedTables,
    ...readModels,
  ];
  return rows.map(({ name }) => name).filter((name) => !known.includes(name));
}
