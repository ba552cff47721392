import type { Command } from '#domain/aggregates.ts';
import { noTotals } from '#domain/run/run.ts';
import { defaultLimits } from '#domain/script/settings.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { finishRun, runScript } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { runsProjection } from './apply.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

/** Returns the run's row after these commands. The first command records the fourth event. */
async function rowOnce(...commands: readonly Command[]) {
  const events = await recordAll([...beginning, ...commands]);
  const { runs } = await rowsAfter(reads.db, [runsProjection], [events]);
  expect(runs).toHaveLength(1);
  return runs?.[0];
}

const run = runScript({ paramsSha256: 'a'.repeat(64), timeoutSeconds: 9 });
const start: Command = { type: 'StartRun', runId: runId(), runtimeId: 'a', layers: ['rlimits'] };
const stop: Command = { type: 'StopRun', runId: runId() };

const queued = {
  run_id: runId(),
  stream_version: 1,
  script_id: scriptId(),
  script_name: 'Report',
  group_id: groupId(),
  script_version: 1,
  status: 'queued',
  ended_as: null,
  waiting: false,
  available_at: at(4),
  stop_requested: false,
  trigger_type: 'manual',
  trigger: { type: 'manual' },
  requested_by: 'ada@example.com',
  entrypoint: 'main.py',
  limits: { ...defaultLimits, wall_clock_seconds: 9 },
  environment: {},
  python: null,
  start_mode: 'warm',
  listen_ports: [],
  resolution: null,
  commit: null,
  params_sha256: 'a'.repeat(64),
  attempt: 1,
  parent_run_id: null,
  queued_at: at(4),
  started_at: null,
  finished_at: null,
  duration_ms: null,
  exit_code: null,
  signal: null,
  failure_reason: null,
  error_fingerprint: null,
  runtime_id: null,
  fence: null,
  layers: null,
  cpu_seconds: null,
  max_memory_bytes: null,
  max_threads: null,
  log_lines: 0,
  log_bytes: 0,
  log_truncated: false,
};
const running = {
  ...queued,
  stream_version: 2,
  status: 'running',
  started_at: at(5),
  runtime_id: 'a',
  fence: 2,
  layers: ['rlimits'],
};

describe('the row of a run', () => {
  test('shows the trigger and the settings when the run is queued', async () => {
    expect(await rowOnce(run)).toEqual(queued);
  });

  test('shows that the run is waiting for a slot, until its release', async () => {
    const notBefore = '2026-01-01T01:00:00.000Z';
    const later = runScript({ whenBusy: 'queue', notBefore });
    const release: Command = { type: 'ReleaseRun', runId: runId(), scriptId: scriptId() };
    const available_at = new Date(notBefore);
    expect(await rowOnce(later)).toMatchObject({ waiting: true, available_at });
    expect(await rowOnce(later, release)).toMatchObject({ waiting: false, available_at });
    expect(await rowOnce(later, stop)).toMatchObject({ waiting: false, status: 'stopped' });
  });

  test('shows the runtime after the run has started', async () => {
    expect(await rowOnce(run, start)).toEqual(running);
  });

  test('has the status running after a stop request, until the run has stopped', async () => {
    const stopping = { ...running, stream_version: 3, stop_requested: true };
    expect(await rowOnce(run, start, stop)).toEqual(stopping);
    const stopped = finishRun({ outcome: 'stopped', exitCode: null, signal: 'SIGTERM' });
    expect(await rowOnce(run, start, stop, stopped)).toMatchObject({
      status: 'stopped',
      stop_requested: true,
      failure_reason: null,
      signal: 'SIGTERM',
      finished_at: at(7),
    });
  });

  test('shows the totals after the run has succeeded', async () => {
    const totals = {
      durationMs: 1500,
      cpuSeconds: 0.25,
      maxMemoryBytes: 3_000_000_000,
      maxThreads: 2,
      logLines: 5_000_000_000,
      logBytes: 42,
      logTruncated: true,
    };
    expect(await rowOnce(run, start, finishRun({ totals }))).toEqual({
      ...running,
      stream_version: 3,
      status: 'success',
      ended_as: 'success',
      finished_at: at(6),
      duration_ms: 1500,
      exit_code: 0,
      cpu_seconds: 0.25,
      max_memory_bytes: 3_000_000_000,
      max_threads: 2,
      log_lines: 5_000_000_000,
      log_bytes: 42,
      log_truncated: true,
    });
  });

  test('shows the failure reason after the run has failed', async () => {
    const failed = finishRun({ outcome: 'exit_code', exitCode: 3 });
    expect(await rowOnce(run, start, failed)).toMatchObject({
      status: 'failed',
      failure_reason: 'exit_code',
      exit_code: 3,
    });
    const lost = finishRun({ outcome: 'runtime_lost', exitCode: null, totals: noTotals });
    expect(await rowOnce(run, start, lost)).toMatchObject({
      status: 'failed',
      failure_reason: 'runtime_lost',
      duration_ms: null,
    });
  });

  test('shows that the run never started', async () => {
    expect(await rowOnce(run, stop)).toEqual({
      ...queued,
      stream_version: 2,
      status: 'stopped',
      ended_as: 'stopped',
      finished_at: at(5),
    });
    const abandon = { type: 'AbandonRun', runId: runId(), failure: 'environment_error' } as const;
    const totals = { ...noTotals, logLines: 2, logBytes: 9 };
    expect(await rowOnce(run, { ...abandon, totals })).toMatchObject({
      status: 'failed',
      failure_reason: 'environment_error',
      started_at: null,
      log_lines: 2,
    });
  });
});
