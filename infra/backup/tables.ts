/** Lists the tables in a backup. Read models are not included, because a restore rebuilds them from the
 *  events. */
import type { Queryable } from '#infra/postgres/database.ts';
import type { Projection } from '#projections/projection.ts';

/** Tables with data that the events do not contain (docs/adr/0003-what-stays-outside-the-events.md). */
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

/**
 * Tables that a backup stores in a special format. Event order is preserved, data keys can be removed later, and
 * reaction checkpoints are stored as event counts.
 */
export const specialTables: readonly string[] = ['events', 'data_keys', 'checkpoints'];

/** Tables whose data is temporary, specific to one installation, or derived from other tables. */
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

/** Returns tables missing from all of these lists. A backup would omit them. */
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
