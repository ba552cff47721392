/** Checks invariants of a fleet's runs in the database and in the records that the scripts write. Each check returns
 *  the violations, if any. */
import type pg from 'pg';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { readerLags } from '#infra/postgres/readers/store-health.ts';
import type { Fleet } from './fleet.ts';
import { maxAttempts, readNotes, type LoadScripts } from './replica-load.ts';
import { until } from './product.ts';

export interface EndedRun {
  readonly run_id: string;
  readonly status: string;
  readonly trigger_type: string;
  readonly failure_reason: string | null;
}

const statements = {
  runs: `SELECT run_id, status, trigger_type, failure_reason FROM runs`,
  left: `SELECT count(*)::int AS left FROM runs WHERE status IN ('queued', 'running')`,
  uneven: `SELECT stream_id FROM events WHERE type IN ('RunQueued', 'RunStarted', 'RunFinished')
    GROUP BY stream_id HAVING count(*) FILTER (WHERE type = 'RunFinished') <> 1
      OR count(*) FILTER (WHERE type = 'RunStarted') > 1`,
  started: `SELECT data ->> 'runId' AS run_id FROM events WHERE type = 'RunStarted'`,
  gaps: `SELECT schedule_id, due_at FROM (
      SELECT schedule_id, due_at, (definition ->> 'intervalSeconds')::int AS seconds,
        lead(due_at) OVER (PARTITION BY schedule_id ORDER BY due_at) - due_at AS gap
      FROM schedule_occurrences JOIN schedules USING (schedule_id)) served
    WHERE gap <> make_interval(secs => seconds)`,
  unfollowed: `SELECT run_id, attempt FROM runs r
    WHERE script_id = ANY ($1) AND status = 'failed' AND attempt < $2
      AND (SELECT count(*) FROM runs next WHERE next.parent_run_id = r.run_id
        AND next.trigger_type = 'retry') <> 1`,
  chained: `SELECT count(*) FILTER (WHERE script_id = $1)::int AS sources,
      count(*) FILTER (WHERE script_id = $2)::int AS targets
    FROM runs`,
  history: `SELECT event_id FROM events ORDER BY transaction_id, global_position`,
};

/** Waits until all runs have finished, or until no run makes progress. @returns all runs */
export async function untilIdle(pool: pg.Pool): Promise<readonly EndedRun[]> {
  for (let before = Infinity; before > 0;) {
    before = await until('a run ends', async () => {
      const { rows } = await pool.query<{ left: number }>(statements.left);
      // Unread events count as work, because they may still cause runs.
      const behind = (await readerLags(pool)).reduce((sum, { events }) => sum + events, 0);
      const left = (rows[0]?.left ?? 0) + behind;
      return left < before || left === 0 ? left : undefined;
    });
  }
  return (await pool.query<EndedRun>(statements.runs)).rows;
}

/** Finds runs that were started more than once, or that do not have exactly one end. */
export async function unevenRuns(pool: pg.Pool): Promise<readonly unknown[]> {
  return (await pool.query(statements.uneven)).rows;
}

/** Finds ended runs that caused no further run (a retry or a chained run) or several, although exactly one was
 *  expected. */
export async function unfollowedRuns(
  pool: pg.Pool,
  { limited, chained, plain, flaky }: LoadScripts,
): Promise<readonly unknown[]> {
  const attempts = await pool.query(statements.unfollowed, [[plain, flaky], maxAttempts]);
  const chains = await pool.query<{ sources: number; targets: number }>(statements.chained, [
    limited,
    chained,
  ]);
  return [...attempts.rows, ...chains.rows.filter(({ sources, targets }) => sources !== targets)];
}

/** Finds runs that the scripts executed more often than recorded, and successful runs whose script did not reach its
 *  end. The scripts keep their own record of executions. */
export async function wronglyExecuted(
  pool: pg.Pool,
  fleet: Fleet,
  runs: readonly EndedRun[],
): Promise<readonly string[]> {
  const notes = await readNotes(fleet);
  const idsOf = (kind: string) =>
    notes.filter(({ what }) => what === kind).map(({ runId }) => runId);
  const starts = idsOf('start');
  const ends = new Set(idsOf('end'));
  const { rows } = await pool.query<{ run_id: string }>(statements.started);
  const recorded = new Set(rows.map((row) => row.run_id));
  const seen = new Set<string>();
  return [
    ...starts.filter((runId) => seen.has(runId) || !seen.add(runId)).map((id) => `${id} twice`),
    ...starts.filter((runId) => !recorded.has(runId)).map((id) => `${id} is not recorded`),
    ...runs
      .filter(({ run_id, status }) => status === 'success' && !ends.has(run_id))
      .map(({ run_id }) => `${run_id} has no end`),
  ];
}

/** Finds interval due times without a recorded successor. */
export async function gapsInLedger(pool: pg.Pool): Promise<readonly unknown[]> {
  return (await pool.query(statements.gaps)).rows;
}

/** Reads the event feed to its end.
 *  @returns the number of missing or extra events. The oldest events may be missing, but there must be no gaps */
export async function errorsInFeed(pool: pg.Pool, url: string): Promise<number> {
  const { rows } = await pool.query<{ event_id: string }>(statements.history);
  const history = rows.map((row) => row.event_id);
  const connection = await connect({ servers: url });
  const { streams } = await jetstreamManager(connection);
  const idAt = async (seq: number) =>
    (await streams.getMessage('orch-events', { seq }))?.header.get('Nats-Msg-Id');
  const kept = await until('the feed has come to the end', async () => {
    const { state } = await streams.info('orch-events');
    return (await idAt(state.last_seq)) === history.at(-1) ? state : undefined;
  });
  const first = history.indexOf((await idAt(kept.first_seq)) ?? '');
  await connection.close();
  return kept.messages - (history.length - first);
}
