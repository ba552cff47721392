/** Finds scripts that await a purge, and their remaining data. */
import type { Queryable } from '../database.ts';

const statements = {
  time: 'SELECT clock_timestamp()::text AS time',
  // Skips scripts with active runs, because these runs may still write data.
  due: `SELECT script_id FROM scripts s WHERE purge = 'started'
    AND NOT EXISTS (SELECT FROM run_queue q WHERE q.script_id = s.script_id)
    ORDER BY script_id LIMIT $1`,
  runs: `SELECT run_id, finished_at,
      array_remove(ARRAY[params_sha256, trigger ->> 'payloadSha256'], NULL) AS payloads FROM runs
    WHERE script_id = $1 AND run_id > $2 AND finished_at IS NOT NULL ORDER BY run_id LIMIT $3`,
  triggers: `SELECT params_sha256 AS sha256 FROM schedules
    WHERE script_id = $1 AND params_sha256 IS NOT NULL
    UNION SELECT params_sha256 FROM chains
    WHERE target_script_id = $1 AND params_sha256 IS NOT NULL`,
  among: `SELECT script_id FROM scripts s WHERE purge IS NOT NULL AND script_id = ANY($1::uuid[])
    AND NOT EXISTS (SELECT FROM run_queue q WHERE q.script_id = s.script_id)`,
};

export interface RunToPurge {
  readonly run_id: string;
  readonly finished_at: Date;
  /** Hashes of the run's parameters and trigger payloads. */
  readonly payloads: readonly string[];
}

const beforeAll = '00000000-0000-0000-0000-000000000000';

/** Returns the database's current time, with microseconds. */
export async function databaseTime(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ time: string }>(statements.time);
  return rows[0]?.time ?? '';
}

/** Returns at most `limit` scripts that are being purged and have no active run. */
export async function scriptsToPurge(db: Queryable, limit: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ script_id: string }>(statements.due, [limit]);
  return rows.map((row) => row.script_id);
}

/** Returns the runs of a script, in pages ordered by ID. */
export async function* runsOfScript(
  db: Queryable,
  scriptId: string,
  atOnce: number,
): AsyncGenerator<readonly RunToPurge[], void> {
  for (let after = beforeAll; ;) {
    const { rows } = await db.query<RunToPurge>(statements.runs, [scriptId, after, atOnce]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = last.run_id;
  }
}

/** Returns hashes of the parameters that a script's schedules and chains pass to its runs. */
export async function paramsOfTriggers(
  db: Queryable,
  scriptId: string,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ sha256: string }>(statements.triggers, [scriptId]);
  return rows.map((row) => row.sha256);
}

/** Filters the given scripts. Returns purged scripts, and scripts that are being purged and have no active run. */
export async function purgedAmong(
  db: Queryable,
  scriptIds: readonly string[],
): Promise<readonly string[]> {
  if (scriptIds.length === 0) return [];
  const { rows } = await db.query<{ script_id: string }>(statements.among, [scriptIds]);
  return rows.map((row) => row.script_id);
}
