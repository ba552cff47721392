import type { Command } from '#domain/aggregates.ts';
import { anyCommand } from '#domain/testing/arbitraries.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { beginning } from '#domain/testing/recorded.ts';
import { createScript, runScript } from '#domain/testing/samples.ts';
import { systemIds } from '#infra/system/ids.ts';
import { withClient } from '#infra/testing/client.ts';
import {
  eventsVisible,
  openTestPlatform,
  userContext,
  untilTrue,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import type { Projection } from '#projections/projection.ts';
import { reactionReads } from '#projections/reaction-reads.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import { rowsOf } from '#projections/testing/delivery.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction, openDatabase, type Database } from '../database.ts';
import { storeChainedInput } from '../event-store/chained-input.ts';
import { Projector } from '../readers/projector.ts';
import { Reactor } from '../readers/reactor.ts';
import { outdatedRows, refuseOutdatedRows } from './projection-versions.ts';
import { rebuildProjection, type RebuildOptions, type RebuildReport } from './rebuild.ts';

const all = [...inlineProjections, ...asyncProjections];
const filled = all.filter(({ fill }) => fill !== undefined);
const { signal } = new AbortController();

let platform: TestPlatform;
let owner: Database;
beforeEach(async () => {
  platform = await openTestPlatform();
  owner = openDatabase(platform.adminUrl, {
    connections: 3,
    applicationName: 'rebuild',
    onIdleError: () => undefined,
  });
});
afterEach(async () => {
  await owner.close();
  await platform.close();
});

function rebuild(
  projection: Projection,
  options: Partial<RebuildOptions> = {},
): Promise<RebuildReport> {
  const kind = inlineProjections.includes(projection) ? 'inline' : 'async';
  return rebuildProjection({ pool: owner.pool, projection, kind, ...options });
}

function named(name: string): Projection {
  const found = all.find((projection) => projection.name === name);
  if (found === undefined) throw new Error(`there is no projection ${name}`);
  return found;
}

async function execute(commands: readonly Command[]): Promise<void> {
  for (const command of commands) await platform.commands.execute(command, userContext());
}

async function project(): Promise<void> {
  await eventsVisible(platform.pool);
  await new Projector(platform.pool, asyncProjections).runOnce(signal);
}

const exact = { lost: 0, added: 0, changed: 0, keys: [] };

async function expectExact(
  projection: Projection,
  options: Partial<RebuildOptions> = {},
): Promise<void> {
  await eventsVisible(platform.pool);
  const { tables, behind } = await rebuild(projection, options);
  expect([behind, ...tables]).toMatchObject([0, ...projection.tables.map(() => exact)]);
}

test('a rebuild produces the same rows as the projection for any history', async () => {
  await execute(beginning);
  const histories = fc.array(anyCommand, { minLength: 10, maxLength: 40 });
  const property = fc.asyncProperty(histories, async (commands) => {
    await execute(commands);
    await project();
    const before = await rowsOf(platform.reads, all);
    for (const projection of all) await expectExact(projection);
    // With these step sizes, the events of one stream are spread over several steps.
    for (const projection of filled) await expectExact(projection, { chunkSize: 3 });
    expect(await rowsOf(platform.reads, all)).toEqual(before);
  });
  await fc.assert(property, { numRuns: 3, endOnFailure: true });
});

describe('wrong rows', () => {
  test('are corrected by a rebuild, which reports the differences', async () => {
    await execute([...beginning, createScript({ scriptId: scriptId(2) })]);
    const before = await rowsOf(platform.reads, all);
    await platform.pool.query(`UPDATE groups SET name = 'wrong' WHERE group_id = $1`, [groupId()]);
    await platform.pool.query('DELETE FROM groups WHERE group_id = $1', [groupId(2)]);
    const stray = groupId(9);
    await platform.pool.query(`INSERT INTO groups VALUES ($1, 1, 'stray', '#000000', 'x')`, [
      stray,
    ]);
    await eventsVisible(platform.pool);
    const { tables } = await rebuild(named('groups'));
    const found = { table: 'groups', rowsBefore: 2, rowsAfter: 2, lost: 1, added: 1, changed: 1 };
    expect(tables).toEqual([{ ...found, keys: [groupId(), groupId(2), stray] }]);
    expect(await rowsOf(platform.reads, all)).toEqual(before);
  });

  test('are also corrected in views, whose privileges stay unchanged', async () => {
    await execute([...beginning, createScript({ scriptId: scriptId(2), name: 'Second' })]);
    const views = `SELECT format('%I.%I', schemaname, viewname) AS name, definition,
        (SELECT array_agg(acl::text ORDER BY acl::text) FROM pg_class, unnest(relacl) AS acl
          WHERE oid = to_regclass(format('%I.%I', schemaname, viewname))) AS acl,
        (SELECT reloptions FROM pg_class
          WHERE oid = to_regclass(format('%I.%I', schemaname, viewname))) AS options
      FROM pg_views WHERE schemaname = 'queries' ORDER BY name`;
    const before = (await owner.pool.query(views)).rows;
    await platform.pool.query(`UPDATE scripts SET name = 'wrong'`);
    await eventsVisible(platform.pool);
    await rebuild(named('scripts'));
    await rebuild(named('runs'));
    expect((await owner.pool.query(views)).rows).toEqual(before);
    const { rows } = await inTransaction(owner.pool, async (client) => {
      await client.query('INSERT INTO queries.scopes VALUES (pg_backend_pid(), $1)', [groupId()]);
      return await client.query('SELECT name FROM queries.scripts ORDER BY id');
    });
    expect(rows).toEqual([{ name: 'Report' }, { name: 'Second' }]);
  });

  test('keep their leases and queue positions when they are corrected', async () => {
    await execute([...beginning, runScript()]);
    await platform.pool.query(
      `UPDATE run_queue SET owner = 'runtime-1', lease_until = '2026-01-01', queue_position = 500,
        attempt = 7`,
    );
    await rebuild(named('run_queue'));
    const { rows } = await platform.pool.query('SELECT * FROM run_queue');
    expect(rows).toMatchObject([
      {
        run_id: runId(),
        owner: 'runtime-1',
        lease_until: new Date('2026-01-01 00:00'),
        queue_position: 500,
        attempt: 1,
      },
    ]);
  });
});

describe('concurrent writers', () => {
  test.each(['runs', 'scripts', 'script_files', 'run_queue', 'audit'])(
    'lose no changes while %s is rebuilt',
    async (name) => {
      await execute(beginning);
      let busy = true;
      let recorded = 0;
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let turn = 0; busy || turn < 20; turn += 1) {
          const id = scriptId(10 + writer * 10_000 + turn);
          const run = runId(10 + writer * 10_000 + turn);
          await platform.accepted(createScript({ scriptId: id }));
          await platform.accepted(runScript({ scriptId: id, runId: run }));
          recorded += 2;
        }
      });
      await untilTrue('writers are active', () => Promise.resolve(recorded > 40));
      await rebuild(named(name));
      const during = recorded;
      if (name === 'audit') await project();
      await rebuild(named(name));
      busy = false;
      await Promise.all(writers);
      expect(recorded).toBeGreaterThan(during);
      await project();
      await expectExact(named(name));
    },
  );

  test('are not blocked for long while the switch waits for a long read', async () => {
    await execute(beginning);
    const reader = await platform.pool.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT FROM scripts');
    const rebuilding = rebuild(named('scripts'));
    await untilTrue('the switch waits', async () => {
      const waits = `SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      return (await platform.pool.query(waits)).rowCount === 1;
    });
    await platform.accepted(createScript({ scriptId: scriptId(5) }));
    await reader.query('COMMIT');
    reader.release();
    await rebuilding;
    expect(await rowsOf(platform.reads, [named('scripts')])).toMatchObject({
      scripts: [{ script_id: scriptId() }, { script_id: scriptId(5) }],
    });
  });
});

const killRebuilds = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'rebuild'`;

test('a rebuild triggers no reactions', async () => {
  await execute([...beginning, runScript(), { type: 'DisableScript', scriptId: scriptId() }]);
  await eventsVisible(platform.pool);
  const told: string[] = [];
  const reactor = new Reactor({
    pool: platform.pool,
    commands: platform.commands,
    ids: systemIds,
    reads: reactionReads(platform.reads, (id) => storeChainedInput(platform.pool, id)),
    reactions: [
      {
        name: 'listening',
        handles: ['RunQueued', 'ScriptDisabled'],
        react: (event) => {
          told.push(event.type);
          return Promise.resolve([]);
        },
      },
    ],
  });
  await reactor.runOnce(signal);
  expect(told).toEqual(['RunQueued', 'ScriptDisabled']);
  for (const projection of all) await rebuild(projection);
  expect([await reactor.runOnce(signal), told.length]).toEqual([0, 2]);
});

describe('an interrupted rebuild', () => {
  test('changes nothing when its connection is killed, and can be repeated', async () => {
    await execute(beginning);
    await project();
    const before = await rowsOf(platform.reads, all);
    const kill = async () => {
      await withClient(platform.adminUrl, (client) => client.query(killRebuilds));
    };
    await expect(rebuild(named('audit'), { onProgress: kill })).rejects.toThrow();
    expect(await rowsOf(platform.reads, all)).toEqual(before);
    await expectExact(named('audit'));
  });

  test('stops when requested', async () => {
    await execute(beginning);
    await expect(rebuild(named('runs'), { signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
    await expectExact(named('runs'));
  });

  test('is refused while another rebuild runs', async () => {
    await execute(beginning);
    await rebuild(named('groups'), {
      onProgress: () => expect(rebuild(named('groups'))).rejects.toThrow(/another process/),
    });
  });
});

describe('the tables after a rebuild', () => {
  const description = `SELECT c.relname, c.reloptions, c.relacl::text[],
      ARRAY(SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = c.oid ORDER BY 1) AS indexes,
      ARRAY(SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = c.oid
        ORDER BY 1) AS constraints,
      ARRAY(SELECT attname || format_type(atttypid, atttypmod) || attcollation FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
    ORDER BY 1`;

  test('have the same schema as after the migrations, without leftovers', async () => {
    const before = (await owner.pool.query(description)).rows;
    for (const projection of all) await rebuild(projection);
    expect((await owner.pool.query(description)).rows).toEqual(before);
  });

  test('can be used by previously prepared statements', async () => {
    await execute(beginning);
    await platform.pool.query('SELECT name FROM groups WHERE group_id = $1', [groupId()]);
    await rebuild(named('groups'));
    const found = await platform.pool.query('SELECT name FROM groups WHERE group_id = $1', [
      groupId(),
    ]);
    expect(found.rowCount).toBe(1);
  });
});

describe('a projection whose rows have a different version', () => {
  const newer = { ...named('audit'), version: named('audit').version + 1 };

  test('needs no rebuild if the event store is empty', async () => {
    expect(await outdatedRows(platform.pool, [newer])).toEqual([]);
    await execute(beginning);
    await expect(refuseOutdatedRows(platform.pool, [newer])).resolves.toBeUndefined();
  });

  test('does not start before a rebuild if there are events', async () => {
    await outdatedRows(platform.pool, all);
    await execute(beginning);
    await project();
    const refusal = refuseOutdatedRows(platform.pool, [named('runs'), newer]);
    await expect(refusal).rejects.toThrow(
      /audit \(rows of version 3, program of version 4\).*projections rebuild/,
    );
    await rebuild(newer, { kind: 'async' });
    await expect(refuseOutdatedRows(platform.pool, [newer])).resolves.toBeUndefined();
    await expect(refuseOutdatedRows(platform.pool, [named('audit')])).rejects.toThrow(/version 4/);
    await execute([createScript({ scriptId: scriptId(2) })]);
    await eventsVisible(platform.pool);
    expect(await new Projector(platform.pool, [newer]).runOnce(signal)).toBe(1);
  });
});

test('a projection without a recorded version requires a rebuild if there are events', async () => {
  await outdatedRows(platform.pool, [named('runs')]);
  await execute(beginning);
  expect(await outdatedRows(platform.pool, [named('groups')])).toMatchObject([{ recorded: 0 }]);
});
