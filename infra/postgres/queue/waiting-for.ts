/** Explains why queued runs do not start. */
import { heldTriggers } from '#domain/run/run.ts';
import type { Queryable } from '../database.ts';

export const waitingKinds = ['slot', 'label', 'pool', 'approval'] as const;

export interface WaitingFor {
  readonly kind: (typeof waitingKinds)[number];
  /** What the run waits for, by `kind`. `slot`: the script whose slots are in use, or `runtime` if all runtimes are
   *  full. `label`: the missing label. `pool`: the full pool. `approval`: the script whose runs require approval. */
  readonly name: string;
}

/** The runtimes that can claim runs: they reported within the last minute and are not drained. */
const liveRuntimes = `live AS (
    SELECT runtime_id, slots, labels FROM runtimes r
    WHERE seen_at > now() - interval '1 minute'
      AND NOT EXISTS (SELECT FROM runtime_drains d WHERE d.runtime_id = r.runtime_id AND d.drained))`;

/**
 * The first label that no live runtime has. If no single runtime has all required labels, but each label exists, this
 * is a list of all the run's labels.
 */
const missingLabel = `coalesce(
    (SELECT label FROM jsonb_array_elements_text(q.runs_on) WITH ORDINALITY AS l (label, place)
      WHERE NOT EXISTS (SELECT FROM live WHERE live.labels ? label) ORDER BY place LIMIT 1),
    (SELECT string_agg(label, ', ') FROM jsonb_array_elements_text(q.runs_on) AS l (label)))`;

/** The run's first pool that has no free slot. */
const fullPool = `(SELECT min(p.name) FROM pools p WHERE q.pools ? p.name AND p.max_runs <= (
    SELECT count(*) FROM run_queue a WHERE NOT a.waiting AND a.pools <> '[]' AND a.pools ? p.name))`;

const statements = {
  waitingFor: `WITH ${liveRuntimes},
    claimed AS (
      SELECT owner, count(*) AS runs FROM run_queue WHERE owner IS NOT NULL GROUP BY owner)
    SELECT q.run_id,
      CASE WHEN q.approval_pending THEN jsonb_build_object('kind', 'approval', 'name', r.script_name)
        WHEN q.runs_on <> '[]' AND NOT EXISTS (SELECT FROM live WHERE q.runs_on <@ live.labels)
          THEN jsonb_build_object('kind', 'label', 'name', ${missingLabel})
        -- The run waits for a time or for the triggers.
        WHEN q.waiting AND (q.not_before > now() OR r.trigger_type = ANY ('{${heldTriggers.join(',')}}')
            AND EXISTS (SELECT FROM trigger_state WHERE paused)) THEN NULL
        WHEN q.waiting AND q.pools <> '[]' AND ${fullPool} IS NOT NULL
          THEN jsonb_build_object('kind', 'pool', 'name', ${fullPool})
        -- Runs with pools wait for the scheduler, even if their script has free slots.
        WHEN q.waiting AND q.pools <> '[]' AND (SELECT count(*) FROM run_queue a
            WHERE a.script_id = q.script_id AND NOT a.waiting)
            < (SELECT max_concurrent_runs FROM scripts s WHERE s.script_id = q.script_id) THEN NULL
        WHEN q.waiting THEN jsonb_build_object('kind', 'slot', 'name', r.script_name)
        WHEN NOT EXISTS (SELECT FROM live LEFT JOIN claimed ON claimed.owner = live.runtime_id
            WHERE q.runs_on <@ live.labels AND coalesce(claimed.runs, 0) < live.slots)
          THEN jsonb_build_object('kind', 'slot', 'name', 'runtime')
      END AS reason
    FROM run_queue q JOIN runs r USING (run_id)
    WHERE q.run_id = ANY($1::uuid[]) AND q.fence IS NULL AND (q.lease_until IS NULL OR q.lease_until < now())`,
  withoutRuntime: `WITH ${liveRuntimes}
    SELECT count(*)::int AS runs, min(${missingLabel}) AS label FROM run_queue q
    WHERE q.fence IS NULL AND NOT q.approval_pending AND q.runs_on <> '[]'
      AND NOT EXISTS (SELECT FROM live WHERE q.runs_on <@ live.labels)`,
};

/** Returns the reasons why queued runs wait. Runs that are about to start, or that wait for a point in time, are
 *  omitted. */
export async function readWaitingFor(
  db: Queryable,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, WaitingFor>> {
  if (runIds.length === 0) return new Map();
  const { rows } = await db.query<{ run_id: string; reason: WaitingFor | null }>(
    statements.waitingFor,
    [runIds],
  );
  return new Map(
    rows.flatMap(({ run_id, reason }) => (reason === null ? [] : [[run_id, reason] as const])),
  );
}

/**
 * Counts queued runs whose required labels are missing from all live runtimes, and returns one missing label. Returns
 * `undefined` if there are no such runs.
 */
export async function findRunsWithoutRuntime(
  db: Queryable,
): Promise<{ readonly runs: number; readonly label: string } | undefined> {
  const { rows } = await db.query<{ runs: number; label: string }>(statements.withoutRuntime, []);
  const [found] = rows;
  return found === undefined || found.runs === 0 ? undefined : found;
}
