import type { Command } from '#domain/aggregates.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { finishRun, runScript } from '#domain/testing/samples.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { runQueueProjection } from './apply.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const start: Command = { type: 'StartRun', runId: runId(), runtimeId: 'a', layers: [] };
const stop: Command = { type: 'StopRun', runId: runId() };

async function rowsOnce(...commands: readonly Command[]) {
  const events = await recordAll([...beginning, runScript(), ...commands]);
  return (await rowsAfter(reads.db, [runQueueProjection], [events]))['run_queue'];
}

const waiting = {
  run_id: runId(),
  stream_version: 1,
  script_id: scriptId(),
  group_id: groupId(),
  priority: 0,
  runs_on: [],
  pools: [],
  available_at: at(4),
  delayed: false,
  not_before: null,
  queue_position: 1,
  attempt: 1,
  waiting: false,
  approval_pending: false,
  expires_at: new Date(at(4).getTime() + 86_400_000),
  fence: null,
  stop_requested: false,
  owner: null,
  leased_at: null,
  lease_until: null,
};

describe('a run in the queue', () => {
  test('has no owner while waiting', async () => {
    expect(await rowsOnce()).toEqual([waiting]);
  });

  test('is delayed if its start time is in the future', async () => {
    const notBefore = '2026-01-01T01:00:00.000Z';
    const later = new Date(notBefore);
    const held = {
      available_at: later,
      delayed: true,
      not_before: later,
      expires_at: new Date(later.getTime() + 86_400_000),
    };
    const queue = runScript({ runId: runId(2), notBefore, whenBusy: 'queue' });
    const release: Command = { type: 'ReleaseRun', runId: runId(2), scriptId: scriptId() };
    expect(await rowsOnce(stop, queue)).toMatchObject([{ ...held, waiting: true }]);
    expect(await rowsOnce(stop, queue, release)).toMatchObject([{ ...held, waiting: false }]);
  });

  test('is not delayed if its start time had passed when it was queued, regardless of later clock changes', async () => {
    const queue = runScript({ notBefore: at(4).toISOString(), whenBusy: 'queue' });
    expect(await rowsOnce(queue)).toMatchObject([{ delayed: false, not_before: null }]);
  });

  test('precedes runs that are queued later, regardless of their IDs', async () => {
    const ids = [runId(9), runId(3), runId(6)];
    const asked = ids.map((id) => runScript({ runId: id, whenBusy: 'queue' }));
    const events = await recordAll([...beginning, ...asked]);
    const rows = (await rowsAfter(reads.db, [runQueueProjection], [events]))['run_queue'];
    expect(rows).toMatchObject([
      { run_id: ids[1], queue_position: 2 },
      { run_id: ids[2], queue_position: 3 },
      { run_id: ids[0], queue_position: 1 },
    ]);
  });

  test('has a fence once it has started', async () => {
    expect(await rowsOnce(start)).toEqual([{ ...waiting, stream_version: 2, fence: 2 }]);
  });

  test('shows a stop request', async () => {
    expect(await rowsOnce(start, stop)).toMatchObject([{ fence: 2, stop_requested: true }]);
  });

  test('is removed when it finishes, even if it never started', async () => {
    expect(await rowsOnce(stop)).toEqual([]);
    expect(await rowsOnce(start, finishRun())).toEqual([]);
  });
});

test('a lease keeps its owner when the leased run starts', async () => {
  const events = await recordAll([...beginning, runScript(), start, stop]);
  await runQueueProjection.apply(reads.db, events.slice(3, 4));
  await sql`UPDATE run_queue SET owner = 'a', lease_until = '2026-02-01T00:00:00Z'`.execute(
    reads.db,
  );
  await runQueueProjection.apply(reads.db, events.slice(4));
  const { rows } =
    await sql`SELECT owner, lease_until, fence, stop_requested FROM run_queue`.execute(reads.db);
  const leaseUntil = new Date('2026-02-01T00:00:00Z');
  expect(rows).toEqual([{ owner: 'a', lease_until: leaseUntil, fence: 2, stop_requested: true }]);
});
