import type { Commands } from '#domain/ports/commands.ts';
import type { Reaction } from '#domain/reactions/reaction.ts';
import { reactions } from '#domain/reactions/registry.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { groupId, runId, scriptId } from '#domain/testing/ids.ts';
import {
  createGroup,
  createScript,
  createUser,
  finishRun,
  runScript,
} from '#domain/testing/samples.ts';
import { systemIds } from '#infra/system/ids.ts';
import { eventsVisible, openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { reactionReads } from '#projections/reaction-reads.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { storeChainedInput } from '../event-store/chained-input.ts';
import { listCheckpoints } from './checkpoints.ts';
import { Reactor, type ReactorDeps } from './reactor.ts';

const { signal } = new AbortController();

let platform: TestPlatform;
beforeEach(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  const settings = { ...defaultSettings, maxConcurrentRuns: 10 };
  await platform.accepted(createScript({ settings }));
  for (const number of [1, 2]) await platform.accepted(runScript({ runId: runId(number) }));
  const start = { type: 'StartRun', runtimeId: 'a', layers: [] } as const;
  await platform.accepted({ ...start, runId: runId(1) });
});
afterEach(() => platform.close());

const disable = { type: 'DisableScript', scriptId: scriptId() } as const;
const enable = { type: 'EnableScript', scriptId: scriptId() } as const;

function reactor(parts: Partial<ReactorDeps> = {}): Reactor {
  const { pool, commands } = platform;
  return new Reactor({
    pool,
    commands,
    ids: systemIds,
    reads: reactionReads(platform.reads, (id) => storeChainedInput(pool, id)),
    reactions,
    ...parts,
  });
}

async function react(parts?: Partial<ReactorDeps>): Promise<number> {
  await eventsVisible(platform.pool);
  return await reactor(parts).runOnce(signal);
}

/** Returns the outcomes of the runs, ordered by number. */
async function runs(): Promise<readonly string[]> {
  const rows = await platform.reads.selectFrom('runs').selectAll().orderBy('run_id').execute();
  return rows.map((row) => (row.stop_requested ? 'stopping' : row.status));
}

async function eventCount(): Promise<number> {
  const { rows } = await platform.pool.query<{ count: number }>('SELECT count(*) FROM events');
  return rows[0]?.count ?? 0;
}

describe('a script with a running and a waiting run', () => {
  test('stops its waiting run when disabled', async () => {
    await platform.accepted(disable);
    await react();
    expect(await runs()).toEqual(['running', 'stopped']);
  });

  test('stops both runs when deleted', async () => {
    await platform.accepted({ type: 'DeleteScript', scriptId: scriptId() });
    await react();
    expect(await runs()).toEqual(['stopping', 'stopped']);
  });

  test('keeps later runs if it is enabled again before the reaction', async () => {
    for (const command of [disable, enable]) await platform.accepted(command);
    await platform.accepted(runScript({ runId: runId(3) }));
    await react();
    expect(await runs()).toEqual(['running', 'stopped', 'queued']);
  });

  test('stops no run on other events', async () => {
    const before = await eventCount();
    expect(await react()).toBe(0);
    expect(await eventCount()).toBe(before);
  });
});

describe('a group with members', () => {
  test('loses its members when it is deleted, even if the event is processed repeatedly', async () => {
    const group = groupId(2);
    await platform.accepted(createGroup({ groupId: group, name: 'Sums' }));
    await platform.accepted(createUser({ groupIds: [groupId(1), group] }));
    await platform.accepted({ type: 'DeleteGroup', groupId: group });
    await react();
    await platform.pool.query('DELETE FROM checkpoints');
    await react();
    const { rows } = await platform.pool.query('SELECT group_ids, stream_version FROM users');
    expect(rows).toEqual([{ group_ids: [groupId(1)], stream_version: 2 }]);
  });
});

describe('a script with one retry', () => {
  const retry = { max_attempts: 2, backoff_seconds: 0, backoff_factor: 1, max_backoff_seconds: 0 };
  beforeEach(async () => {
    await platform.accepted({ type: 'ChangeScript', scriptId: scriptId(), settings: { retry } });
    await platform.accepted(finishRun({ runId: runId(1), outcome: 'runtime_lost' }));
  });

  test('queues one retry when its run fails, even if the event is processed repeatedly', async () => {
    await react();
    await platform.pool.query('DELETE FROM checkpoints');
    await Promise.all([react(), react()]);
    const rows = await platform.reads.selectFrom('runs').selectAll().orderBy('queued_at').execute();
    expect(rows.slice(2)).toMatchObject([
      {
        attempt: 2,
        parent_run_id: runId(1),
        script_version: 1,
        trigger: { type: 'retry', runId: runId(1) },
        waiting: true,
      },
    ]);
  });

  test('queues no retry when disabled', async () => {
    await platform.accepted(disable);
    await react();
    expect(await runs()).toEqual(['failed', 'stopped']);
  });
});

describe('the deletion of a script', () => {
  beforeEach(async () => {
    await platform.accepted({ type: 'DeleteScript', scriptId: scriptId() });
  });

  test('is recorded as the cause of the events that it leads to', async () => {
    const { rows } = await platform.pool.query<{ event_id: string; correlation: string }>(
      `SELECT event_id, metadata->>'correlationId' AS correlation FROM events
        WHERE type = 'ScriptDeleted'`,
    );
    await react();
    const caused = await platform.pool.query(
      `SELECT type, metadata->>'correlationId' AS correlation, metadata->'actor' AS actor
        FROM events WHERE metadata->>'causationId' = $1 ORDER BY type`,
      [rows[0]?.event_id],
    );
    const correlation = rows[0]?.correlation;
    const actor = { kind: 'system', name: 'reaction' };
    expect(caused.rows).toEqual([
      { type: 'RunFinished', correlation, actor },
      { type: 'RunStopRequested', correlation, actor },
    ]);
  });

  test('has no further effect when the reactor runs again', async () => {
    await react();
    const after = await eventCount();
    await react();
    expect(await react()).toBe(0);
    expect(await eventCount()).toBe(after);
  });

  test('has no further effect when the checkpoint is lost', async () => {
    await react();
    const after = await eventCount();
    await platform.pool.query('DELETE FROM checkpoints');
    await react();
    expect(await eventCount()).toBe(after);
  });

  test('stops each run once when several reactors run concurrently', async () => {
    await eventsVisible(platform.pool);
    const before = await eventCount();
    await Promise.all(Array.from({ length: 5 }, () => reactor().runOnce(signal)));
    expect(await eventCount()).toBe(before + 2);
    await react();
    const places = await listCheckpoints(platform.pool);
    expect(places.map((place) => place.lag)).toEqual(reactions.map(() => 0));
  });

  test('is retried in the next round when its command fails', async () => {
    const commands: Commands = {
      execute: () => Promise.reject(new Error('down')),
      executeAll: () => Promise.reject(new Error('down')),
      check: () => Promise.resolve(undefined),
    };
    await expect(react({ commands })).rejects.toThrow('down');
    expect(await runs()).toEqual(['running', 'queued']);
    await react();
    expect(await runs()).toEqual(['stopping', 'stopped']);
  });

  test('is skipped if its command is refused, and the next event is processed', async () => {
    const tooLate: Reaction = {
      name: 'too-late',
      handles: ['RunQueued'],
      react: () => Promise.resolve([{ type: 'StopRun', runId: runId(99) }]),
    };
    expect(await react({ reactions: [tooLate] })).toBe(2);
    expect(await react({ reactions: [tooLate] })).toBe(0);
  });

  test('is not processed once the reactor stops', async () => {
    expect(await reactor().runOnce(AbortSignal.abort())).toBe(0);
    expect(await runs()).toEqual(['running', 'queued']);
  });
});

describe('a reaction that fails', () => {
  const failing: Reaction = {
    name: 'failing',
    handles: ['ScriptDisabled'],
    react: () => Promise.reject(new Error('not today')),
  };

  test('stays at its checkpoint while the others advance, and catches up later', async () => {
    await platform.accepted(disable);
    await expect(react({ reactions: [failing, ...reactions] })).rejects.toThrow('not today');
    expect(await runs()).toEqual(['running', 'stopped']);
    const behind = async () =>
      (await listCheckpoints(platform.pool)).filter(({ lag }) => lag > 0).map(({ name }) => name);
    expect(await behind()).toEqual(expect.arrayContaining(['failing']));
    // The failing reaction has not processed these events, but it would read the state that they lead to.
    await platform.accepted(enable);
    await expect(react({ reactions: [failing, ...reactions] })).rejects.toThrow('not today');
    expect(await behind()).toEqual(['failing']);
    const seen: string[] = [];
    const well: Reaction = {
      ...failing,
      react: ({ type }) => {
        seen.push(type);
        return Promise.resolve([]);
      },
    };
    await react({ reactions: [well, ...reactions] });
    expect(seen).toEqual(['ScriptDisabled']);
    expect(await behind()).not.toContain('failing');
  });
});
