import { newEvent } from '#infra/conformance/event-store.ts';
import { makeCheckpoint } from '#infra/postgres/readers/checkpoints.ts';
import { PostgresEventStore } from '#infra/postgres/event-store/event-store.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schedulerMetrics } from './metrics.ts';
import { lagProblem } from './reader-lag.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await makeCheckpoint(platform.pool, 'slow', 1);
});
afterAll(() => platform.close());

test('a stalled reader is reported by the health check and the metrics', async () => {
  expect(await lagProblem(platform.pool, 1000)).toBeUndefined();
  const hourAgo = { now: () => new Date(Date.now() - 3_600_000) };
  const store = new PostgresEventStore(platform.pool, hourAgo);
  const events = [newEvent('Old', {}), newEvent('Old', {})];
  await store.append([{ streamId: 'test-old', expectedVersion: 0, events }]);
  expect(await lagProblem(platform.pool, 1000)).toMatch(/^slow is 2 events and 36\d\d s behind/);
  expect(await lagProblem(platform.pool, 5)).toBeUndefined();
  const parts = {
    database: platform.pool,
    reads: platform.reads,
    clock: { now: () => new Date() },
    folder: '/',
  };
  const page = await schedulerMetrics(parts, { differenceSeconds: 3 }, () => false).metrics();
  expect(page).toContain('orchestrator_projection_lag_events{reader="slow"} 2');
  expect(page).toMatch(/orchestrator_projection_lag_seconds\{reader="slow"\} 36\d\d/);
  expect(page).toMatch(/orchestrator_queue_runs\{state="due"\} 0/);
  expect(page).toMatch(/orchestrator_event_store_position [1-9]/);
  expect(page).toMatch(/orchestrator_database_size_bytes [1-9]/);
  expect(page).toMatch(/orchestrator_bus_up 0/);
  expect(page).toMatch(/orchestrator_clock_difference_seconds 3/);
  expect(page).toMatch(/orchestrator_backup_overdue_seconds 0/);
  expect(page).toMatch(/orchestrator_disk_free_bytes [1-9]/);
  expect(page).not.toMatch(/^orchestrator_backup_age_seconds/m);
  expect(page).toMatch(/process_resident_memory_bytes [1-9]/);
});
