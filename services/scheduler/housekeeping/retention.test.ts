import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '#domain/kernel/ids.ts';
import { objectKey, objectPrefix } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { Retention } from '#domain/system/retention.ts';
import { chainId, runId, scriptId, webhookId } from '#domain/testing/ids.ts';
import {
  createChain,
  createGroup,
  createSchedule,
  createScript,
  finishRun,
  hourly,
  runScript,
} from '#domain/testing/samples.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { openFolderStore } from '#infra/objects/folder.ts';
import { getPayload, keepPayload, putPayload } from '#infra/postgres/event-store/payloads.ts';
import { readProgress } from '#infra/postgres/operations/removals.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { PostgresRunSamples } from '#infra/postgres/logs/run-samples.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeOutdated, type RetentionDeps } from './retention.ts';
import { untilDone } from './testing/crashing.ts';

const dayMs = 24 * 60 * 60 * 1000;
const going = new AbortController().signal;
const lines = 3;

let platform: TestPlatform;
let folder: string;
let objects: ObjectStore;
beforeEach(async () => {
  platform = await openTestPlatform();
  folder = await mkdtemp(join(tmpdir(), 'orch-retention-'));
  objects = await openFolderStore({ folder });
  await platform.accepted(createGroup());
  await platform.accepted(
    createScript({ settings: { ...defaultSettings, maxConcurrentRuns: 1000 } }),
  );
});
afterEach(async () => {
  await platform.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the job's dependencies with a clock that is `days` after the start of 2026, the time of all events. */
function partsAfter(days: number, changes: Partial<RetentionDeps> = {}): RetentionDeps {
  const now = new Date(Date.UTC(2026, 0, 1) + days * dayMs);
  const { pool: database, reads } = platform;
  return { database, reads, objects, clock: { now: () => now }, ...changes };
}

async function keep(changes: Partial<Retention>): Promise<void> {
  await platform.accepted({ type: 'ChangeRetention', changes });
}

/** Creates a run with a log of several chunks, samples, two artifacts and separate parameters. */
async function givenRun(number: number, params = `{"n":${number}}`): Promise<RunId> {
  const id = runId(number);
  const paramsSha256 = await putPayload(platform.pool, Buffer.from(params));
  // Sets the last use of the parameters to the time of all events.
  await platform.pool.query('UPDATE payloads SET wanted_at = $1', [new Date(Date.UTC(2026, 0, 1))]);
  await platform.accepted(runScript({ runId: id, paramsSha256 }));
  await new PostgresRunLogs(platform.pool).append(
    Array.from({ length: lines }, (_, index) => ({
      runId: id,
      firstSeq: index + 1,
      lastSeq: index + 1,
      bytes: 5,
      itemsJson: JSON.stringify([
        { seq: index + 1, time: '2026-01-01T00:00:00.000Z', stream: 'stdout', text: 'line' },
      ]),
    })),
  );
  const point = { timeMs: 1, cpuSeconds: 1, memoryBytes: 1, threads: 1, processes: 1 };
  await new PostgresRunSamples(platform.pool).save([{ runId: id, place: 0, points: [point] }]);
  for (const path of ['report.pdf', 'more/table.csv']) {
    await objects.put(objectKey.runArtifact(id, path), Buffer.from('kept'));
  }
  return id;
}

async function finish(id: RunId): Promise<void> {
  await platform.accepted({ type: 'StartRun', runId: id, runtimeId: 'a', layers: [] });
  await platform.accepted(finishRun({ runId: id }));
}

/** Counts the remaining data of a run, by kind. */
async function remains(id: RunId) {
  const { items } = await new PostgresRunLogs(platform.pool).read(id, { fromSeq: 1, limit: 10 });
  const keys = await Array.fromAsync(objects.list(objectPrefix.runArtifacts(id)));
  const { rows } = await platform.pool.query<{ params_sha256: string }>(
    'SELECT params_sha256 FROM runs WHERE run_id = $1',
    [id],
  );
  return {
    lines: items.filter((item) => item.stream === 'stdout').length,
    samples: (await new PostgresRunSamples(platform.pool).read(id)).length,
    artifacts: keys.length,
    params: (await getPayload(platform.pool, rows[0]?.params_sha256 ?? '')) !== undefined,
  };
}

const everything = { lines, samples: 1, artifacts: 2, params: true };
const nothing = { lines: 0, samples: 0, artifacts: 0, params: false };
const oneDay = { logsDays: 1, samplesDays: 1, artifactsDays: 1, payloadsDays: 1 };

describe('a finished run', () => {
  test('keeps all data if no retention is configured', async () => {
    const id = await givenRun(1);
    await finish(id);
    expect(await removeOutdated(partsAfter(10_000), going)).toBe(false);
    expect(await remains(id)).toEqual(everything);
  });

  test('keeps all data until the retention period ends', async () => {
    const id = await givenRun(1);
    await finish(id);
    await keep(oneDay);
    await removeOutdated(partsAfter(1), going);
    expect(await remains(id)).toEqual(everything);
  });

  test.each([
    [{ logsDays: 7 }, { ...everything, lines: 0 }],
    [{ samplesDays: 7 }, { ...everything, samples: 0 }],
    [{ artifactsDays: 7 }, { ...everything, artifacts: 0 }],
    [{ payloadsDays: 7 }, { ...everything, params: false }],
  ])(
    'loses only the data to which the setting %j applies, after the period',
    async (setting, rest) => {
      const id = await givenRun(1);
      await finish(id);
      await keep(setting);
      await removeOutdated(partsAfter(8), going);
      expect(await remains(id)).toEqual(rest);
    },
  );

  test('shows one line instead of its removed log, whether the log is read forward or backward', async () => {
    const id = await givenRun(1);
    await finish(id);
    await keep({ logsDays: 7 });
    await removeOutdated(partsAfter(8), going);
    const logs = new PostgresRunLogs(platform.pool);
    const [item, ...others] = (await logs.read(id, { fromSeq: 1, limit: 10 })).items;
    expect(item).toMatchObject({ seq: 1, stream: 'system', from_seq: 1, to_seq: lines });
    expect(item?.text).toBe('… 3 lines were removed by retention …');
    expect(others).toEqual([]);
    const last = await logs.read(id, { fromSeq: 1, limit: 10, fromEnd: true });
    expect(last.items).toEqual([item]);
  });
});

test('a run’s webhook payload is kept as long as the run’s parameters', async () => {
  const payloadSha256 = await putPayload(platform.pool, Buffer.from('{}\na body'));
  await platform.pool.query('UPDATE payloads SET wanted_at = $1', [new Date(Date.UTC(2026, 0, 1))]);
  const trigger = { type: 'webhook', webhookId: webhookId(), payloadSha256 } as const;
  await platform.accepted(runScript({ trigger }));
  await keep({ payloadsDays: 7 });
  await removeOutdated(partsAfter(100), going);
  expect(await getPayload(platform.pool, payloadSha256)).toBeDefined();
  await finish(runId());
  await removeOutdated(partsAfter(1), going);
  expect(await getPayload(platform.pool, payloadSha256)).toBeDefined();
  await removeOutdated(partsAfter(100), going);
  expect(await getPayload(platform.pool, payloadSha256)).toBeUndefined();
});

test('the payload of a webhook call that started no run is removed after the retention period', async () => {
  await platform.pool.query(
    `INSERT INTO webhook_misses (delivery_id, webhook_id, time, status, count, payload)
      VALUES ($1, $1, $2, 409, 1, 'a body')`,
    [webhookId(), new Date(Date.UTC(2026, 0, 1))],
  );
  await keep({ payloadsDays: 7 });
  const kept = async () => {
    const { rows } = await platform.pool.query<{ kept: boolean }>(
      'SELECT payload IS NOT NULL AS kept FROM webhook_misses',
    );
    return rows.map((row) => row.kept);
  };
  await removeOutdated(partsAfter(7), going);
  expect(await kept()).toEqual([true]);
  await removeOutdated(partsAfter(8), going);
  expect(await kept()).toEqual([false]);
});

describe('an active run', () => {
  test('keeps all data until the run has ended', async () => {
    const id = await givenRun(1);
    await keep(oneDay);
    await removeOutdated(partsAfter(1000), going);
    expect(await remains(id)).toEqual(everything);
    await finish(id);
    await removeOutdated(partsAfter(1000), going);
    expect(await remains(id)).toEqual(nothing);
  });

  test('keeps parameters that it shares with a finished run', async () => {
    const [ended, active] = [await givenRun(1, '{}'), await givenRun(2, '{}')];
    await finish(ended);
    await keep(oneDay);
    await removeOutdated(partsAfter(1000), going);
    expect([(await remains(ended)).params, (await remains(active)).params]).toEqual([true, true]);
  });
});

test('the parameters of a chain or schedule are kept until the chain or schedule is deleted', async () => {
  const id = await givenRun(1);
  await finish(id);
  await keep(oneDay);
  const { rows } = await platform.pool.query<{ sha256: string }>('SELECT sha256 FROM payloads');
  const paramsSha256 = rows[0]?.sha256 ?? null;
  const schedule = createSchedule({ definition: { ...hourly, paramsSha256 } });
  await platform.accepted(schedule);
  await removeOutdated(partsAfter(1000), going);
  await platform.accepted(createScript({ scriptId: scriptId(2) }));
  await platform.accepted(createChain({ paramsSha256 }));
  expect((await remains(id)).params).toBe(true);
  const { scheduleId } = schedule;
  await platform.accepted({ type: 'DeleteSchedule', scheduleId, scriptId: scriptId() });
  await removeOutdated(partsAfter(1000), going);
  expect((await remains(id)).params).toBe(true);
  await platform.accepted({ type: 'DeleteChain', chainId: chainId() });
  await removeOutdated(partsAfter(1001), going);
  expect((await remains(id)).params).toBe(false);
});

test('parameters that are reserved for a new run are kept', async () => {
  const id = await givenRun(1);
  await finish(id);
  await keep(oneDay);
  const sha256 = await putPayload(platform.pool, Buffer.from('{"n":1}'));
  expect(await keepPayload(platform.pool, sha256)).toBe(true);
  await removeOutdated(partsAfter(100), going);
  expect(await remains(id)).toMatchObject({ params: true, lines: 0 });
});

test('rounds are repeated until the data of all runs is removed', async () => {
  const ids = [];
  for (let number = 1; number <= 130; number += 1) ids.push(runId(number));
  for (const id of ids) {
    await platform.accepted(runScript({ runId: id }));
    await finish(id);
  }
  const [first, last] = [ids[0]!, ids.at(-1)!];
  await objects.put(objectKey.runArtifact(first, 'a'), Buffer.from('kept'));
  await objects.put(objectKey.runArtifact(last, 'a'), Buffer.from('kept'));
  await keep({ artifactsDays: 1 });
  expect(await removeOutdated(partsAfter(2), going)).toBe(true);
  expect([(await remains(first)).artifacts, (await remains(last)).artifacts]).toEqual([0, 1]);
  expect(await removeOutdated(partsAfter(2), going)).toBe(false);
  expect((await remains(last)).artifacts).toBe(0);
});

test('removed data is still reported as removed after a longer retention period is set', async () => {
  const id = await givenRun(1);
  await finish(id);
  await keep({ logsDays: 1 });
  await removeOutdated(partsAfter(2), going);
  await keep({ logsDays: 1000 });
  await removeOutdated(partsAfter(3), going);
  const known = { kind: 'logs', run_id: id, later: [] };
  expect(await readProgress(platform.pool, [id])).toEqual([known]);
});

test('all expired data is removed even if a crash occurs at any step', async () => {
  const ids = [await givenRun(1), await givenRun(2)];
  for (const id of ids) await finish(id);
  await keep(oneDay);
  const crashes = await untilDone(partsAfter(2), (parts) => removeOutdated(parts, going));
  expect(crashes).toBeGreaterThan(5);
  for (const id of ids) expect(await remains(id)).toEqual(nothing);
  const log = await new PostgresRunLogs(platform.pool).read(ids[0]!, { fromSeq: 1, limit: 10 });
  expect(log.items).toMatchObject([{ from_seq: 1, to_seq: lines }]);
});

test('artifacts that cannot be removed block no other data and are removed later', async () => {
  await keep(oneDay);
  const id = await givenRun(1);
  await finish(id);
  const away: RetentionDeps['objects'] = {
    list: () => {
      throw new Error('away');
    },
    delete: () => Promise.reject(new Error('away')),
  };
  await expect(removeOutdated(partsAfter(2, { objects: away }), going)).rejects.toThrow('away');
  expect(await remains(id)).toEqual({ ...nothing, artifacts: 2 });
  await removeOutdated(partsAfter(2), going);
  expect(await remains(id)).toEqual(nothing);
});

test('concurrent rounds remove all expired data', async () => {
  const id = await givenRun(1);
  await finish(id);
  await keep(oneDay);
  await Promise.all([
    removeOutdated(partsAfter(2), going),
    removeOutdated(partsAfter(2), going),
    removeOutdated(partsAfter(2), going),
  ]);
  expect(await remains(id)).toEqual(nothing);
});
