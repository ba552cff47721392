/** Writes a history of runs directly into the event store, for benchmarks of projections and queues. */
import type { Recorded } from '#domain/aggregates.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { mustParse, parseRunId, type RunId } from '#domain/kernel/ids.ts';
import type { RunEvent } from '#domain/run/events.ts';
import { runFinished, runQueued, runStarted } from '#domain/testing/samples.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { inTransaction, queryBuilderOn } from '#infra/postgres/database.ts';
import { appendEvents } from '#infra/postgres/event-store/event-store.ts';
import { systemIds } from '#infra/system/ids.ts';
import { applyAll, type ReadModels } from '#projections/projection.ts';
import { runQueueProjection } from '#projections/run-queue/apply.ts';
import { runsProjection } from '#projections/runs/apply.ts';
import type pg from 'pg';

const runsAtOnce = 300;

/** Appends the events of `count` runs and writes their rows.
 *  @returns the runs in order */
export async function makeRuns(
  pool: pg.Pool,
  count: number,
  as: 'queued' | 'finished',
): Promise<readonly RunId[]> {
  const runIds = Array.from({ length: count }, () => mustParse(parseRunId, systemIds.next()));
  const eventsOf = as === 'queued' ? queued : whole;
  for (let done = 0; done < count; done += runsAtOnce) {
    const appends = runIds.slice(done, done + runsAtOnce).map((runId) => ({
      streamId: `run-${runId}` as StreamId,
      expectedVersion: 0,
      events: eventsOf(runId).map(({ type, data }) => newEvent(type, data)),
    }));
    await inTransaction(pool, async (client) => {
      const events = (await appendEvents(client, appends, new Date())) as readonly Recorded[];
      const db = queryBuilderOn<never>(client) as unknown as ReadModels;
      await applyAll([runsProjection, runQueueProjection], db, events);
    });
  }
  return runIds;
}

function queued(runId: RunId): readonly RunEvent[] {
  return [runQueued({ runId })];
}

function whole(runId: RunId): readonly RunEvent[] {
  return [runQueued({ runId }), runStarted({ runId }), runFinished({ runId })];
}
