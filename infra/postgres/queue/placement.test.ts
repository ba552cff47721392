/** Tests claims by runtimes with labels, and the fair distribution of slots between groups. */
import type { RunId } from '#domain/kernel/ids.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { createGroup, createScript, runScript } from '#domain/testing/samples.ts';
import { groupId, poolId, runId, scriptId } from '#domain/testing/ids.ts';
import { labelFigures } from '#infra/postgres/operations/platform-figures.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import { systemIds } from '#infra/system/ids.ts';
import { releaseWaitingRuns } from '#services/scheduler/waiting-runs.ts';
import { PostgresRunQueue } from './run-queue.ts';
import { readWaitingFor } from './waiting-for.ts';

let platform: TestPlatform;
let queue: PostgresRunQueue;
beforeAll(async () => {
  platform = await openTestPlatform();
  queue = new PostgresRunQueue(platform.pool);
  await platform.accepted(createGroup());
});
afterAll(() => platform.close());

const context = {
  actor: { kind: 'system', name: 'scheduler' },
  ip: null,
  correlationId: 'test',
  causationId: null,
} as const;

let made = 0;
beforeEach(async () => {
  await platform.pool.query('DELETE FROM run_queue');
});

/** Queues a run of a new script. */
async function queued(settings: Partial<typeof defaultSettings>): Promise<RunId> {
  made += 1;
  await platform.accepted(
    createScript({
      scriptId: scriptId(made),
      name: `Script ${made}`,
      settings: { ...defaultSettings, ...settings },
    }),
  );
  await platform.accepted(runScript({ runId: runId(made), scriptId: scriptId(made) }));
  return runId(made);
}

const claimed = async (labels: readonly string[] = [], owner = 'a') =>
  (await queue.claim(owner, 10, 60, labels)).map((one) => one.runId);

describe('runs that use pools', () => {
  const systemParts = () => ({
    reads: platform.reads,
    commands: platform.commands,
    ids: systemIds,
  });
  const pool = { poolId: poolId(), name: 'crm-api' };
  const pooled = (pools: readonly string[] = [pool.name]) =>
    queued({ pools, maxConcurrentRuns: 9 });
  const end = (id: RunId) => platform.accepted({ type: 'StopRun', runId: id });
  const waitingFor = async (id: RunId) => (await readWaitingFor(platform.pool, [id])).get(id);

  test('use the pool’s whole limit but never exceed it, even with several schedulers', async () => {
    await platform.accepted({ type: 'CreatePool', ...pool, limit: 3 });
    const ids: RunId[] = [];
    for (let count = 0; count < 8; count += 1) ids.push(await pooled());
    const plain = await queued({});
    expect(await claimed()).toEqual([plain]);
    const rounds = Array.from({ length: 4 }, () => releaseWaitingRuns(systemParts()));
    await Promise.all(rounds);
    expect(await claimed()).toEqual(ids.slice(0, 3));
    expect(await waitingFor(ids[3]!)).toEqual({ kind: 'pool', name: 'crm-api' });
    await releaseWaitingRuns(systemParts());
    expect(await claimed()).toEqual([]);
    await end(ids[1]!);
    expect(await waitingFor(ids[3]!)).toBeUndefined();
    await Promise.all([releaseWaitingRuns(systemParts()), releaseWaitingRuns(systemParts())]);
    expect(await claimed()).toEqual([ids[3]]);
    await platform.accepted({ type: 'ChangePool', poolId: pool.poolId, limit: 5 });
    await releaseWaitingRuns(systemParts());
    expect(await claimed()).toEqual(ids.slice(4, 6));
  });

  test('are admitted one at a time, even if the scheduler has read outdated data', async () => {
    const name = 'one';
    await platform.accepted({ type: 'CreatePool', poolId: poolId(2), name, limit: 1 });
    const ids = [await pooled([name]), await pooled([name]), await pooled([name])];
    const outcomes = await Promise.all(
      ids.map((id, index) =>
        platform.commands.execute(
          { type: 'ReleaseRun', runId: id, scriptId: scriptId(made - 2 + index), pools: [name] },
          { ...context, commandId: mustParse(parseCommandId, systemIds.next()) },
        ),
      ),
    );
    expect(
      outcomes.map((one) => (one.kind === 'refused' ? one.refusal.code : one.kind)).toSorted(),
    ).toEqual(['accepted', 'pool_full', 'pool_full']);
  });

  test('wait for all their pools and occupy no other pools', async () => {
    for (const [index, name] of ['full', 'open'].entries()) {
      const id = poolId(3 + index);
      await platform.accepted({ type: 'CreatePool', poolId: id, name, limit: index });
    }
    const both = await pooled(['open', 'full']);
    const open = await pooled(['open']);
    await releaseWaitingRuns(systemParts());
    expect(await claimed()).toEqual([open]);
    expect(await waitingFor(both)).toEqual({ kind: 'pool', name: 'full' });
  });
});

describe('a claim by a runtime with labels', () => {
  test('returns only runs whose labels the runtime has', async () => {
    const gpu = await queued({ runsOn: ['gpu'] });
    const both = await queued({ runsOn: ['zone-b', 'gpu'] });
    const plain = await queued({});
    expect(await claimed(['zone-b'])).toEqual([plain]);
    expect(await claimed()).toEqual([]);
    expect(await claimed(['gpu'])).toEqual([gpu]);
    expect(await claimed(['other', 'gpu', 'zone-b'])).toEqual([both]);
  });

  test('uses the labels that the run had when it was queued', async () => {
    const gpu = await queued({ runsOn: ['gpu'] });
    await platform.accepted({
      type: 'ChangeScript',
      scriptId: scriptId(made),
      settings: { runsOn: [] },
    });
    expect(await claimed()).toEqual([]);
    expect(await claimed(['gpu'])).toEqual([gpu]);
  });
});

/** Queues runs without events, because only their positions in the queue matter. */
async function flood(group: number, count: number, labels: readonly string[] = []) {
  await platform.pool.query(
    `INSERT INTO run_queue (run_id, script_id, group_id, runs_on, waiting, delayed, available_at,
        stream_version, priority, attempt, stop_requested)
      SELECT gen_random_uuid(), $1, $2, $3::jsonb, false, false, now(), 1, 0, 1, false
      FROM generate_series(1, $4::int)`,
    [scriptId(), groupId(group), JSON.stringify(labels), count],
  );
}

/** Returns the groups of the runs that a runtime with two slots claims, in order. */
async function groupsInTurn(claims: number): Promise<string[]> {
  const turns: string[] = [];
  for (let claim = 0; claim < claims; claim += 1) {
    await platform.pool.query('DELETE FROM run_queue WHERE queue_position = $1', [
      (await oldestClaimed(2)) ?? -1,
    ]);
    await queue.claim('a', 1, 60);
    const { rows } = await platform.pool.query<{ group_id: string }>(
      `SELECT group_id FROM run_queue WHERE owner IS NOT NULL ORDER BY leased_at DESC LIMIT 1`,
    );
    turns.push(rows[0]?.group_id ?? 'none');
  }
  return turns;
}

/** Returns the queue position of the run that was claimed first, or undefined while fewer than `slots` runs are
 *  claimed. */
async function oldestClaimed(slots: number): Promise<number | undefined> {
  const { rows } = await platform.pool.query<{ queue_position: number }>(
    'SELECT queue_position FROM run_queue WHERE owner IS NOT NULL ORDER BY leased_at',
  );
  return rows.length < slots ? undefined : rows[0]?.queue_position;
}

const ownersByGroup = async () =>
  (
    await platform.pool.query<{ group_id: string; runs: number }>(
      `SELECT group_id, count(*)::int AS runs FROM run_queue WHERE owner IS NOT NULL
        GROUP BY group_id ORDER BY group_id`,
    )
  ).rows;

describe('a flood of runs in one group', () => {
  test('does not delay runs of other groups', async () => {
    await flood(1, 1000);
    await flood(2, 10);
    const turns = await groupsInTurn(24);
    expect(turns.filter((group) => group === groupId(2))).toHaveLength(10);
  });

  test('leaves half of a claim’s slots to another group', async () => {
    await flood(1, 100);
    await flood(2, 100);
    await queue.claim('a', 10, 60);
    expect(await ownersByGroup()).toEqual([
      { group_id: groupId(1), runs: 5 },
      { group_id: groupId(2), runs: 5 },
    ]);
  });

  test('gets all slots while other groups have no runs', async () => {
    await flood(1, 20);
    await queue.claim('a', 8, 60);
    expect(await ownersByGroup()).toEqual([{ group_id: groupId(1), runs: 8 }]);
  });

  test('does not delay runs without labels if the flood requires a label', async () => {
    await flood(1, 1000, ['gpu']);
    await flood(2, 3);
    await queue.claim('a', 5, 60);
    expect(await ownersByGroup()).toEqual([{ group_id: groupId(2), runs: 3 }]);
  });

  test('is claimed in order by queue clients, which have no labels', async () => {
    await flood(1, 4);
    await flood(1, 2, ['gpu']);
    await flood(2, 4);
    await queue.claimInOrder('a', 5, 60);
    expect(await ownersByGroup()).toEqual([
      { group_id: groupId(1), runs: 4 },
      { group_id: groupId(2), runs: 1 },
    ]);
  });

  test('is shared by many concurrent runtimes, and each run is claimed once', async () => {
    await flood(1, 40);
    await flood(2, 40);
    const owners = Array.from({ length: 10 }, (_, index) => `runtime-${index}`);
    await Promise.all(owners.map((owner) => queue.claim(owner, 4, 60)));
    const { rows } = await platform.pool.query<{ most: number }>(
      `SELECT max(runs)::int AS most FROM (SELECT count(*) AS runs FROM run_queue
        WHERE owner IS NOT NULL GROUP BY owner) each`,
    );
    expect(rows).toEqual([{ most: 4 }]);
    await queue.claim('last', 80, 60);
    expect(await ownersByGroup()).toEqual([
      { group_id: groupId(1), runs: 40 },
      { group_id: groupId(2), runs: 40 },
    ]);
  });
});

test('the label statistics count the unfinished runs that require each label', async () => {
  await flood(1, 3, ['gpu', 'zone-b']);
  await flood(1, 2, ['gpu']);
  await flood(1, 4);
  await platform.pool.query(
    `UPDATE run_queue SET waiting = true WHERE run_id IN
      (SELECT run_id FROM run_queue WHERE runs_on = '["gpu"]' LIMIT 1)`,
  );
  expect(await labelFigures(platform.pool)).toEqual([
    { label: 'gpu', due: 4, waiting: 1, running: 0 },
    { label: 'zone-b', due: 3, waiting: 0, running: 0 },
  ]);
});
