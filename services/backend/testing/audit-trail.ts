/** Helpers that fill the audit trail in tests, and tamper with it as only the schema owner could. */
import { withClient } from '#infra/testing/client.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import type { TestBackend } from './test-backend.ts';

/** Waits until all events have audit entries. */
export async function writeTrail({ backend, pool }: TestBackend): Promise<void> {
  await backend.settle();
  await eventsVisible(pool);
  await new Projector(pool, [auditProjection]).runOnce(new AbortController().signal);
}

/** Tampers with the store, runs a check, and rolls the changes back. */
export async function whileTampered<Result>(
  { adminUrl }: TestBackend,
  statements: readonly string[],
  look: () => Promise<Result>,
): Promise<Result> {
  const tables = ['events', 'audit', 'audit_heads', 'checkpoints'];
  return await withClient(adminUrl, async (client) => {
    const run = async (list: readonly string[]) => {
      for (const statement of list) await client.query(statement);
    };
    await run(tables.map((table) => `CREATE TABLE kept_${table} AS TABLE ${table}`));
    try {
      await run([
        'SET session_replication_role = replica', // Bypasses the triggers that protect the tables.
        ...statements,
      ]);
      return await look();
    } finally {
      await run(
        tables.flatMap((table) => [
          `DELETE FROM ${table}`,
          `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM kept_${table}`,
          `DROP TABLE kept_${table}`,
        ]),
      );
    }
  });
}
