/** What a backup contains of each table. Read models are rebuilt from the events. */
import type { Queryable } from '#infra/postgres/database.ts';
import type { Projection } from '#projections/projection.ts';

/** Data that the events do not contain (docs/adr/0003-what-stays-outside-the-events.md). */
export const carriedTables: readonly string[] = [
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
  'script_state',
  'webhook_misses',
];

/** What a backup takes in a form of its own: events in their order, data keys as a part that can shrink, places
 *  of reactions as numbers of events. */
export const ownForms: readonly string[] = ['events', 'data_keys', 'checkpoints'];

/** What is true of one installation for the moment, or follows from the rest. */
export const leftTables: readonly string[] = [
  'backup_work',
  'login_failures',
  'projection_versions',
  'replay_marks',
  'runtimes',
  'schema_migrations',
  'session_tokens',
  'snapshots',
  'streams',
  'webhook_calls',
  'ws_tickets',
];

/** Tables of the database that nothing here speaks of: a backup would lose what is in them. */
export async function forgottenTables(
  db: Queryable,
  projections: readonly Projection[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`,
    [],
  );
  const readModels = projections.flatMap(({ tables }) => tables);
  const known: readonly string[] = [...carriedTables, ...ownForms, ...leftTables, ...readModels];
  return rows.map(({ name }) => name).filter((name) => !known.includes(name));
}
