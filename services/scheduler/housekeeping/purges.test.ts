import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { objectKey, objectPrefix } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { noticeId, runId, scriptId, webhookId } from '#domain/testing/ids.ts';
import {
  createGroup,
  createScript,
  createWebhook,
  finishRun,
  postNotice,
  runScript,
} from '#domain/testing/samples.ts';
import { openFolderStore } from '#infra/objects/folder.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import { putPayload } from '#infra/postgres/event-store/payloads.ts';
import { databaseTime } from '#infra/postgres/operations/purges.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { saveSpans } from '#infra/postgres/logs/run-spans.ts';
import { PostgresRunSamples } from '#infra/postgres/logs/run-samples.ts';
import { recordRemoval, reportRuntime } from '#infra/postgres/queue/runtimes.ts';
import { setState } from '#infra/postgres/operations/script-state.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { purgeScripts, type PurgeDeps } from './purges.ts';
import { untilDone } from './testing/crashing.ts';

const going = new AbortController().signal;
const [purged, other] = [scriptId(1), scriptId(2)];

let platform: TestPlatform;
let folder: string;
let objects: ObjectStore;
let deps: PurgeDeps;
beforeEach(async () => {
  platform = await openTestPlatform();
  folder = await mkdtemp(join(tmpdir(), 'orch-purges-'));
  objects = await openFolderStore({ folder });
  deps = {
    database: platform.pool,
    objects,
    commands: platform.commands,
    ids: systemIds,
    removableSince: new Map(),
  };
  await platform.accepted(createGroup());
  await givenScript(purged, [1, 2, 3]);
  await givenScript(other, [4]);
});
afterEach(async () => {
  await platform.close();
  await rm(folder, { recursive: true, force: true });
});

/** Creates a script with two versions of a file, a data key, and finished runs with every kind of data. Different
 *  scripts share a file and parameters. */
async function givenScript(id: ScriptId, runs: readonly number[]): Promise<void> {
  const settings = { ...defaultSettings, maxConcurrentRuns: 100 };
  await platform.accepted(createScript({ scriptId: id, settings }));
  for (const content of ['common', `of ${id}`]) await putBlob(id, content);
  await platform.pool.query(
    `INSERT INTO data_keys (key_id, script_id, master_key_id, wrapped_key) VALUES ($1, $1, 'x', '')`,
    [id],
  );
  const hook = webhookId(runs.length);
  await platform.accepted(createWebhook({ webhookId: hook, scriptId: id, tokenHash: id }));
  await platform.pool.query(
    `WITH key AS (INSERT INTO data_keys (key_id, script_id, master_key_id, wrapped_key)
      VALUES ($1, $1, 'x', ''))
    INSERT INTO webhook_misses (delivery_id, webhook_id, time, status, count)
    VALUES ($1, $1, now(), 409, 1)`,
    [hook],
  );
  await setState(platform.pool, id, 'last', '1');
  const locks = new PostgresEnvironmentLocks(platform.pool);
  await locks.record({ scriptId: id, scriptVersion: 1, target: 'here' }, 'greeter==1.0\n');
  await platform.accepted(postNotice({ noticeId: noticeId(runs[0]), scriptId: id }));
  for (const number of runs) {
    await givenRun(id, number, `{"of":"${id}"}`);
    await givenRun(id, number + 100, '{"common":true}');
  }
}

async function putBlob(id: ScriptId, content: string): Promise<void> {
  const sha256 = createHash('sha256').update(content).digest('hex');
  await objects.put(objectKey.scriptBlob(id, sha256), Buffer.from(content));
}

async function givenRun(id: ScriptId, number: number, params: string): Promise<void> {
  const run = runId(number);
  const paramsSha256 = await putPayload(platform.pool, Buffer.from(params));
  await platform.accepted(runScript({ runId: run, scriptId: id, paramsSha256 }));
  await platform.accepted({ type: 'StartRun', runId: run, runtimeId: 'a', layers: [] });
  await platform.accepted(finishRun({ runId: run }));
  const items = [{ seq: 1, time: '2026-01-01T00:00:00.000Z', stream: 'stdout', text: 'line' }];
  const chunk = { runId: run, firstSeq: 1, lastSeq: 1, bytes: 5 };
  await new PostgresRunLogs(platform.pool).append([{ ...chunk, itemsJson: JSON.stringify(items) }]);
  const point = { timeMs: 1, cpuSeconds: 1, memoryBytes: 1, threads: 1, processes: 1 };
  await new PostgresRunSamples(platform.pool).save([{ runId: run, place: 0, points: [point] }]);
  await platform.pool.query(`INSERT INTO run_reports (run_id, output) VALUES ($1, '1')`, [run]);
  const span = { spanId: 'a', parentId: null, name: 'fetch', endedAt: null, failed: false };
  await saveSpans(platform.pool, run, [{ ...span, startedAt: new Date(0), attributes: {} }]);
  await objects.put(objectKey.runArtifact(run, 'a/report.pdf'), Buffer.from('kept'));
}

/** Moves the last use of all parameters one hour into the past. */
async function laterOn(): Promise<void> {
  await platform.pool.query(`UPDATE payloads SET wanted_at = now() - interval '1 hour'`);
}

async function givenRuntime(name: string): Promise<void> {
  const report = {
    slots: 1,
    running: 0,
    layers: [],
    python: null,
    labels: [],
    started_at: new Date(0),
  };
  await reportRuntime(platform.pool, { runtime_id: name, ...report });
}

async function purge(): Promise<void> {
  await platform.accepted({ type: 'DeleteScript', scriptId: purged });
  await platform.accepted({ type: 'PurgeScript', scriptId: purged });
}

const counted = `SELECT
  (SELECT count(*) FROM run_log_chunks c JOIN runs r USING (run_id)
    WHERE script_id = $1 AND c.bytes > 0) AS lines,
  (SELECT count(*) FROM run_samples JOIN runs USING (run_id) WHERE script_id = $1) AS samples,
  (SELECT count(*) FROM payloads p WHERE encode(content, 'escape') LIKE '%' || $1 || '%') AS params,
  (SELECT count(*) FROM run_reports JOIN runs USING (run_id) WHERE script_id = $1) AS reports,
  (SELECT count(*) FROM run_spans JOIN runs USING (run_id) WHERE script_id = $1) AS spans,
  (SELECT count(*) FROM script_state WHERE script_id = $1) AS state,
  (SELECT count(*) FROM environment_locks WHERE script_id = $1) AS locks,
  (SELECT count(*) FROM notices WHERE script_id = $1) AS notices,
  (SELECT count(*) FROM webhook_misses JOIN webhooks USING (webhook_id) WHERE script_id = $1) AS misses,
  (SELECT count(*) FROM data_keys WHERE script_id = $1 OR script_id IN (
    SELECT webhook_id FROM webhooks WHERE script_id = $1)) AS keys`;

/** Counts the remaining data of a script, by kind. */
async function remains(id: ScriptId) {
  const { rows } = await platform.pool.query<Record<string, number>>(counted, [id]);
  const blobs = await Array.fromAsync(objects.list(`scripts/${id}/`));
  const runs = await platform.pool.query<{ run_id: string }>(
    'SELECT run_id FROM runs WHERE script_id = $1',
    [id],
  );
  let artifacts = 0;
  for (const { run_id } of runs.rows) {
    artifacts += (await Array.fromAsync(objects.list(`runs/${run_id}/`))).length;
  }
  return { ...rows[0], blobs: blobs.length, artifacts };
}

async function events(id: ScriptId): Promise<readonly string[]> {
  const { rows } = await platform.pool.query<{ type: string }>(
    'SELECT type FROM events WHERE stream_id = $1 ORDER BY version',
    [`script-${id}`],
  );
  return rows.map((row) => row.type);
}

async function commonParams(): Promise<number> {
  const { rows } = await platform.pool.query<{ count: number }>(
    `SELECT count(*) FROM payloads WHERE encode(content, 'escape') = '{"common":true}'`,
  );
  return rows[0]?.count ?? 0;
}

const nothing = {
  misses: 0,
  reports: 0,
  spans: 0,
  state: 0,
  locks: 0,
  notices: 0,
  lines: 0,
  samples: 0,
  params: 0,
  keys: 0,
  blobs: 0,
  artifacts: 0,
};
const ofTheOther = {
  misses: 1,
  reports: 2,
  spans: 2,
  state: 1,
  locks: 1,
  notices: 1,
  lines: 2,
  samples: 2,
  params: 1,
  keys: 2,
  blobs: 2,
  artifacts: 2,
};
const history = ['ScriptCreated', 'ScriptDeleted', 'ScriptPurged', 'ScriptPurgeFinished'];

describe('a deleted script', () => {
  test('loses all data except its events in a purge, without affecting other scripts', async () => {
    await purge();
    await laterOn();
    await purgeScripts(deps, going);
    expect(await remains(purged)).toEqual(nothing);
    expect(await events(purged)).toEqual(history);
    expect(await remains(other)).toEqual(ofTheOther);
    expect(await commonParams()).toBe(1);
    const log = await new PostgresRunLogs(platform.pool).read(runId(1), { fromSeq: 1, limit: 9 });
    expect(log.items.map((item) => item.text)).toEqual([
      '… 1 line was removed when the script was purged …',
    ]);
  });

  test('keeps all data unless it is purged', async () => {
    const before = await remains(purged);
    await platform.accepted({ type: 'DeleteScript', scriptId: purged });
    await laterOn();
    await purgeScripts(deps, going);
    expect(await remains(purged)).toEqual(before);
  });

  test('keeps recently used parameters until a later purge round', async () => {
    await purge();
    await purgeScripts(deps, going);
    expect(await remains(purged)).toEqual({ ...nothing, params: 1 });
    expect(await events(purged)).toEqual(history.slice(0, -1));
    await laterOn();
    await purgeScripts(deps, going);
    expect(await remains(purged)).toEqual(nothing);
    expect(await events(purged)).toEqual(history);
  });

  test('is not completely purged until every active runtime has removed its data', async () => {
    for (const name of ['a', 'b', 'away']) await givenRuntime(name);
    await platform.pool.query(
      `UPDATE runtimes SET seen_at = now() - interval '2 minutes' WHERE runtime_id = 'away'`,
    );
    await purge();
    await laterOn();
    await recordRemoval(platform.pool, 'a', await databaseTime(platform.pool));
    await purgeScripts(deps, going);
    expect(await events(purged)).toEqual(history.slice(0, -1));
    await recordRemoval(platform.pool, 'a', await databaseTime(platform.pool));
    await purgeScripts(deps, going);
    expect(await events(purged)).toEqual(history.slice(0, -1));
    await recordRemoval(platform.pool, 'b', await databaseTime(platform.pool));
    await purgeScripts(deps, going);
    expect(await events(purged)).toEqual(history);
  });

  test('is not purged before its last run has ended', async () => {
    await platform.accepted(runScript({ runId: runId(50), scriptId: purged }));
    await platform.accepted({ type: 'StartRun', runId: runId(50), runtimeId: 'a', layers: [] });
    await purge();
    await laterOn();
    await purgeScripts(deps, going);
    expect(await remains(purged)).toMatchObject({ keys: 2, blobs: 2, lines: 6 });
    await platform.accepted(finishRun({ runId: runId(50) }));
    await purgeScripts(deps, going);
    expect(await remains(purged)).toEqual(nothing);
  });
});

test('a purge is completed after a crash at any step', async () => {
  await purge();
  await laterOn();
  const crashes = await untilDone(deps, (crashing) => purgeScripts(crashing, going));
  expect(crashes).toBeGreaterThan(5);
  expect(await remains(purged)).toEqual(nothing);
  expect(await remains(other)).toEqual(ofTheOther);
  expect(await events(purged)).toEqual(history);
});

test('a purge whose data cannot be removed does not block other purges', async () => {
  for (const id of [purged, other]) {
    await platform.accepted({ type: 'DeleteScript', scriptId: id });
    await platform.accepted({ type: 'PurgeScript', scriptId: id });
  }
  await laterOn();
  const broken: PurgeDeps['objects'] = {
    list: (prefix) => {
      if (prefix.startsWith(objectPrefix.script(purged))) throw new Error('no right to look');
      return objects.list(prefix);
    },
    delete: (key) => objects.delete(key),
  };
  await expect(purgeScripts({ ...deps, objects: broken }, going)).rejects.toThrow('no right');
  expect(await remains(purged)).toMatchObject({ lines: 6, blobs: 2 });
  expect(await remains(other)).toMatchObject({ lines: 0, blobs: 0 });
});

test('two concurrent purges of a script record only one completion', async () => {
  await purge();
  await laterOn();
  await Promise.all([purgeScripts(deps, going), purgeScripts(deps, going)]);
  expect(await remains(purged)).toEqual(nothing);
  expect(await events(purged)).toEqual(history);
});
