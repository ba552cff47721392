import { scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, recordRefusal } from '#domain/testing/samples.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { eventsVisible, openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import { runFiguresProjection } from '#projections/figures/apply.ts';
import type { Projection } from '#projections/projection.ts';
import { secretUsesProjection } from '#projections/secrets/apply.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction, openDatabase } from '../database.ts';
import { appendEvents, PostgresEventStore } from '../event-store/event-store.ts';
import { listCheckpoints } from './checkpoints.ts';
import { Projector } from './projector.ts';

const { signal } = new AbortController();

let platform: TestPlatform;
beforeEach(async () => {
  platform = await openTestPlatform();
});
afterEach(() => platform.close());

function projector(projection: Projection = auditProjection): Projector {
  return new Projector(platform.pool, [projection]);
}

/** Runs a projector over all events. */
async function catchUp(projection?: Projection): Promise<number> {
  await eventsVisible(platform.pool);
  return await projector(projection).runOnce(signal);
}

const refusal = (count: number) => {
  const { type: _, ...data } = recordRefusal({ count });
  return newEvent('RequestRefused', data);
};

async function recordRefusals(count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => refusal(index + 1));
  const streamId = `refusal-${systemIds.next()}` as const;
  await new PostgresEventStore(platform.pool, systemClock).append([
    { streamId, expectedVersion: 0, events },
  ]);
}

async function auditSeqs(): Promise<readonly number[]> {
  const rows = await platform.reads.selectFrom('audit').select('audit_seq').execute();
  return rows.map((row) => row.audit_seq).toSorted((one, other) => one - other);
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

describe('unread events of a projection', () => {
  test('are all applied, regardless of their number', async () => {
    await recordRefusals(1203);
    expect(await catchUp()).toBe(1203);
    expect(await auditSeqs()).toEqual(upTo(1203));
  });

  test('are applied only once, and later rounds do nothing until new events are recorded', async () => {
    await recordRefusals(2);
    await catchUp();
    expect(await catchUp()).toBe(0);
    await platform.accepted(createGroup());
    expect(await catchUp()).toBe(1);
    expect(await auditSeqs()).toEqual([1, 2, 3]);
    expect(await listCheckpoints(platform.pool)).toMatchObject([{ name: 'audit', lag: 0 }]);
  });

  test('are applied with statements that are planned only once', async () => {
    const { pool, close } = openDatabase(platform.serviceUrl, {
      connections: 1,
      applicationName: 'test',
      onIdleError: () => undefined,
    });
    for (let turn = 0; turn < 4; turn += 1) {
      await recordRefusals(1);
      await eventsVisible(platform.pool);
      await new Projector(pool, [auditProjection]).runOnce(signal);
    }
    const { rows } = await pool.query(`SELECT custom_plans FROM pg_prepared_statements
      WHERE statement LIKE '%INSERT INTO audit (%'`);
    await close();
    expect(rows).toEqual([{ custom_plans: 0 }]);
  });

  test('are not applied when the projector stops', async () => {
    await recordRefusals(1);
    expect(await projector().runOnce(AbortSignal.abort())).toBe(0);
  });

  test('are applied once, after all earlier events that may still be committed', async () => {
    const slow = { streamId: 'refusal-slow', expectedVersion: 0, events: [refusal(1)] } as const;
    await inTransaction(platform.pool, async (client) => {
      await appendEvents(client, [slow], systemClock.now());
      await recordRefusals(1);
      expect(await projector().runOnce(signal)).toBe(0);
    });
    expect(await catchUp()).toBe(2);
    const rows = await platform.reads
      .selectFrom('audit')
      .select('event_position')
      .orderBy('audit_seq')
      .execute();
    expect(rows[0]!.event_position).toBeLessThan(rows[1]!.event_position);
  });
});

describe('a projection that fails', () => {
  const crash = () => Promise.reject(new Error('crash'));
  const { fill, ...eventByEvent } = auditProjection;
  const failing: Projection = {
    ...eventByEvent,
    apply: (db, events) => auditProjection.apply(db, events).then(crash),
  };
  const failingSetBased: Projection = {
    ...failing,
    ...(fill && {
      fill: { ...fill, run: (db, from, to) => fill.run(db, from, to).then(crash) },
    }),
  };

  test.each([
    { way: 'event by event', projection: failing },
    { way: 'as a set', projection: failingSetBased },
  ])('rolls back its checkpoint and the rows written $way', async ({ projection }) => {
    await recordRefusals(3);
    await expect(catchUp(projection)).rejects.toThrow('crash');
    expect(await auditSeqs()).toEqual([]);
    expect(await catchUp()).toBe(3);
    expect(await auditSeqs()).toEqual([1, 2, 3]);
  });

  test('does not stop other projections at the same position', async () => {
    const all = new Projector(platform.pool, [failing, runFiguresProjection, secretUsesProjection]);
    for (let round = 0; round < 2; round += 1) {
      await recordRefusals(2);
      await eventsVisible(platform.pool);
      await expect(all.runOnce(signal)).rejects.toThrow('crash');
    }
    expect(await listCheckpoints(platform.pool)).toMatchObject([
      { name: 'audit', lag: 4 },
      { name: 'run_figures', lag: 0 },
      { name: 'secret_uses', lag: 0 },
    ]);
    expect(await auditSeqs()).toEqual([]);
    expect(await catchUp()).toBe(4);
  });

  test('continues the numbering of rows, however the rows were written', async () => {
    await recordRefusals(2);
    await catchUp(eventByEvent);
    await recordRefusals(2);
    await catchUp();
    await recordRefusals(2);
    await catchUp(eventByEvent);
    expect(await auditSeqs()).toEqual(upTo(6));
  });

  test('keeps rows of earlier rounds when a later round fails', async () => {
    await recordRefusals(2);
    await catchUp();
    await recordRefusals(2);
    await expect(catchUp(failing)).rejects.toThrow('crash');
    expect(await auditSeqs()).toEqual([1, 2]);
    expect(await listCheckpoints(platform.pool)).toMatchObject([{ name: 'audit', lag: 2 }]);
  });
});

describe('several concurrent projectors', () => {
  test('apply each event once, and leave no gap in the row numbers', async () => {
    await platform.accepted(createGroup());
    await platform.accepted(createScript());
    const renamed = Array.from({ length: 60 }, (_, index) =>
      platform.accepted({ type: 'ChangeScript', scriptId: scriptId(), name: `Name ${index}` }),
    );
    let busy = true;
    const projecting = Array.from({ length: 4 }, async () => {
      while (busy) await projector().runOnce(signal);
    });
    await Promise.all(renamed);
    busy = false;
    await Promise.all(projecting);
    await catchUp();
    expect(await auditSeqs()).toEqual(upTo(62));
  });

  test('do not wait for a locked checkpoint', async () => {
    await recordRefusals(1);
    await catchUp();
    await recordRefusals(1);
    await eventsVisible(platform.pool);
    await inTransaction(platform.pool, async (client) => {
      await client.query("SELECT FROM checkpoints WHERE name = 'audit' FOR UPDATE");
      expect(await projector().runOnce(signal)).toBe(0);
    });
    expect(await catchUp()).toBe(1);
  });
});

test('a projector refuses rows of another projection version, and requests a rebuild', async () => {
  await recordRefusals(1);
  await catchUp();
  await recordRefusals(1);
  await expect(
    catchUp({ ...auditProjection, version: auditProjection.version + 1 }),
  ).rejects.toThrow(/rebuild/);
  expect(await auditSeqs()).toEqual([1]);
});
