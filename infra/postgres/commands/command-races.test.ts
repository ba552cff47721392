import type { Command, Recorded } from '#domain/aggregates.ts';
import { startOfStore } from '#domain/kernel/event.ts';
import type { Outcome } from '#domain/ports/commands.ts';
import { anyCommand } from '#domain/testing/arbitraries.ts';
import { commandId, groupId, runId, scriptId, userId } from '#domain/testing/ids.ts';
import { beginning } from '#domain/testing/recorded.ts';
import { createGroup, createScript, createUser, file, runScript } from '#domain/testing/samples.ts';
import {
  answersOf,
  eventsVisible,
  streamOf,
  openTestPlatform,
  recordedBy,
  userContext,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import { inlineProjections } from '#projections/registry.ts';
import { rowsAfter, rowsOf } from '#projections/testing/delivery.ts';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readAll } from '../event-store/event-store.ts';
import { KnownStreams } from './known-streams.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  await platform.accepted(createGroup({ groupId: groupId(2), name: 'Sums' }));
});
afterAll(() => platform.close());

// Every test has its own script and runs.
let number = 10;
const script = () => scriptId(number);
const run = (turn = 1) => runScript({ scriptId: script(), runId: runId(number * 100 + turn) });
const start = (runtimeId: string) =>
  ({ type: 'StartRun', runId: run().runId, runtimeId, layers: [] }) as const;
const change = (what: object) => ({ type: 'ChangeScript', scriptId: script(), ...what }) as const;
const save = (path: string) => ({ type: 'SaveFile', scriptId: script(), ...file(path) }) as const;
beforeEach(async () => {
  number += 1;
  await platform.accepted(createScript({ scriptId: script() }));
});

function execute(command: Command): Promise<Outcome> {
  return platform.commands.execute(command, userContext());
}

/** Executes the command as another process does, in a separate transaction. */
function elsewhere(command: Command): Promise<Outcome> {
  return platform.pipeline({}).execute(command, userContext());
}

/** Returns all events in store order. */
async function history(): Promise<readonly Recorded[]> {
  await eventsVisible(platform.pool);
  return (await readAll(platform.pool, startOfStore, 100_000)) as readonly Recorded[];
}

describe('concurrent requests', () => {
  test('queue exactly three runs for a script with three slots', async () => {
    await platform.accepted({
      type: 'ChangeScript',
      scriptId: script(),
      settings: { maxConcurrentRuns: 3 },
    });
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => execute(run(index + 1))),
    );
    const refused = Array.from({ length: 47 }, () => 'concurrency_limit_reached');
    expect(answersOf(outcomes)).toEqual(['accepted', 'accepted', 'accepted', ...refused]);
    const queued = platform.reads.selectFrom('run_queue').where('script_id', '=', script());
    expect(await queued.selectAll().execute()).toHaveLength(3);
  });

  test('to change the same version succeed once, and cause a conflict for the other caller', async () => {
    const outcomes = await Promise.all(
      ['One', 'Two'].map((text) => execute(change({ name: text, expectedVersion: 1 }))),
    );
    expect(answersOf(outcomes)).toEqual(['accepted', 'version_mismatch']);
  });

  test('to save files create a separate version for each save', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => execute(save(`${index}.py`))),
    );
    const versions = outcomes.map((one) => one.kind === 'accepted' && one.version);
    expect(versions.toSorted((one, other) => Number(one) - Number(other))).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 2),
    );
  });

  test('to create accounts with the same email address create only one account', async () => {
    const outcomes = await Promise.all(
      [1, 2, 3].map((number) => execute(createUser({ userId: userId(number) }))),
    );
    expect(answersOf(outcomes)).toEqual(['accepted', 'already_exists', 'already_exists']);
  });

  test('to create an account are refused if another transaction has just taken the email address', async () => {
    const take = (client: pg.PoolClient) =>
      client.query(
        `INSERT INTO users VALUES
        ($1, 1, 'eve@example.com', 'Eve', 'viewer', '[]', false, false, $1, now(), 1)`,
        [userId(8)],
      );
    const late = createUser({ userId: userId(9), email: 'eve@example.com' });
    expect(answersOf(await platform.whileHeld(take, [() => elsewhere(late)]))).toEqual([
      'already_exists',
    ]);
    await platform.pool.query('DELETE FROM users WHERE user_id = $1', [userId(8)]);
  });

  test('of two administrators to demote each other leave one administrator', async () => {
    const both = [21, 22].map((number) => ({ userId: userId(number) }));
    for (const [index, id] of both.entries()) {
      const email = `admin${index}@example.com`;
      await platform.accepted(createUser({ ...id, email, role: 'administrator' }));
    }
    const changes = [{ role: 'viewer' } as const, { disabled: true }];
    const demote = both.map((id, index): Command => {
      return { type: 'ChangeUser', ...id, changes: changes[index] ?? {} };
    });
    const together = await Promise.all(demote.map(execute));
    expect(answersOf(together)).toEqual(['accepted', 'last_administrator']);
    const back = { role: 'administrator', disabled: false } as const;
    for (const id of both) await platform.accepted({ type: 'ChangeUser', ...id, changes: back });
    const apart = await platform.whileHeld(
      streamOf('user-administrators'),
      demote.map((command) => () => elsewhere(command)),
    );
    expect(answersOf(apart)).toEqual(['accepted', 'last_administrator']);
  });

  test('to delete a group and to create a script in it never both succeed', async () => {
    const group = { groupId: groupId(51) };
    await platform.accepted(createGroup({ ...group, name: 'Leaving' }));
    const outcomes = await Promise.all([
      elsewhere({ type: 'DeleteGroup', ...group }),
      execute(createScript({ scriptId: scriptId(51), ...group })),
    ]);
    const isDeleted = outcomes[0]?.kind === 'accepted';
    const refused = isDeleted ? 'validation_failed' : 'group_in_use';
    expect(answersOf(outcomes)).toEqual(['accepted', refused]);
  });

  test('to execute the same command in several processes get the same response', async () => {
    const once = { commandId: commandId(number), fingerprint: 'first' };
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        platform
          .pipeline({})
          .execute(
            createUser({ userId: userId(100 + index), email: 'zoe@example.com' }),
            userContext(once),
          ),
      ),
    );
    expect(answersOf(outcomes)).toEqual(outcomes.map(() => 'accepted'));
    expect(outcomes.filter((one) => one.kind === 'accepted' && !one.repeated)).toHaveLength(1);
  });

  test('to create the same resource create it only once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () =>
        execute(createGroup({ groupId: groupId(3), name: 'Third' })),
      ),
    );
    expect(outcomes.flatMap(recordedBy)).toHaveLength(1);
  });

  test('to start and to stop a run never both succeed', async () => {
    await platform.accepted(run());
    await Promise.all([execute(start('a')), execute(start('b'))]);
    await execute({ type: 'StopRun', runId: run().runId });
    const runs = platform.reads.selectFrom('runs').where('script_id', '=', script());
    expect(await runs.selectAll().execute()).toMatchObject([
      { status: 'running', fence: 2, stop_requested: true, stream_version: 3 },
    ]);
  });
});

describe('commands in quick succession', () => {
  test('show readers the events of a stream in order', async () => {
    const outcomes = await platform.whileHeld(streamOf(`script-${script()}`), [
      () => elsewhere(save('first.py')),
      () => elsewhere(change({ groupId: groupId(2) })),
      () => elsewhere(save('third.py')),
    ]);
    expect(answersOf(outcomes)).toEqual(['accepted', 'accepted', 'accepted']);
    const ours = (await history()).filter((event) => event.streamId === `script-${script()}`);
    expect(ours.map((event) => event.version)).toEqual([1, 2, 3, 4]);
  });

  test('make a run visible to readers before the event that disables its script', async () => {
    const outcomes = await platform.whileHeld(streamOf(`script-${script()}`), [
      () => elsewhere(run()),
      () => elsewhere({ type: 'DisableScript', scriptId: script() }),
    ]);
    expect(answersOf(outcomes)).toEqual(['accepted', 'accepted']);
    const types = (await history()).slice(-2).map((event) => event.type);
    expect(types).toEqual(['RunQueued', 'ScriptDisabled']);
  });
});

describe('hundreds of concurrent commands of any type', () => {
  test('do not fail, and leave rows that match the history', async () => {
    for (const command of beginning) await execute(command);
    const waiting = fc.sample(anyCommand, { numRuns: 500, seed: 7 });
    const processes = [
      platform.commands,
      platform.pipeline({ known: new KnownStreams() }),
      platform.pipeline({ known: new KnownStreams() }),
    ];
    const worker = async (_: unknown, index: number): Promise<void> => {
      const process = processes[index % processes.length];
      for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
        await process?.execute(one, userContext());
      }
    };
    await Promise.all(Array.from({ length: 18 }, worker));
    const rows = await rowsOf(platform.reads, inlineProjections);
    const events = await history();
    for (const table of inlineProjections.flatMap((projection) => projection.tables)) {
      await platform.reads.deleteFrom(table).execute();
    }
    expect(await rowsAfter(platform.reads, inlineProjections, [events])).toEqual(rows);
  });
});
