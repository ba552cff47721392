import type { Command } from '#domain/aggregates.ts';
import type { CommandContext, Outcome } from '#domain/ports/commands.ts';
import { commandId, groupId, runId, scriptId } from '#domain/testing/ids.ts';
import {
  createGroup,
  createScript,
  createUser,
  recordRefusal,
  runScript,
} from '#domain/testing/samples.ts';
import { defaultLimits } from '#domain/script/settings.ts';
import {
  answersOf,
  streamOf,
  openTestPlatform,
  recordedBy,
  userContext,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import type { Projection } from '#projections/projection.ts';
import { inlineProjections } from '#projections/registry.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { announcements } from './announcements.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
});
afterAll(() => platform.close());

// Every test has its own script, runs and command IDs.
let number = 0;
const script = () => scriptId(number);
const run = (turn = 1) => runScript({ scriptId: script(), runId: runId(number * 100 + turn) });
const start = (runtimeId: string) =>
  ({ type: 'StartRun', runId: run().runId, runtimeId, layers: [] }) as const;
const once = () => ({ commandId: commandId(number), fingerprint: 'first' });
beforeEach(async () => {
  number += 1;
  await platform.accepted(createScript({ scriptId: script() }));
  platform.announced.length = 0;
});

function execute(command: Command, context: Partial<CommandContext> = {}): Promise<Outcome> {
  return platform.commands.execute(command, userContext(context));
}

/** Counts the stored rows. */
async function stored() {
  const { rows } = await platform.pool.query<Record<'events' | 'streams' | 'commands', number>>(
    `SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM streams) AS streams,
      (SELECT count(*) FROM commands) AS commands`,
  );
  return rows[0];
}

async function scriptRow() {
  return await platform.reads
    .selectFrom('scripts')
    .selectAll()
    .where('script_id', '=', script())
    .executeTakeFirst();
}

const name = (text: string) => ({ type: 'ChangeScript', scriptId: script(), name: text }) as const;

describe('an accepted command', () => {
  test('records its events and rows, and returns their positions', async () => {
    const context = userContext({ ip: '192.0.2.7' });
    const outcome = await platform.commands.execute(name('New'), context);
    const { commandId: _, ...rest } = context;
    expect(outcome).toMatchObject({
      kind: 'accepted',
      streamId: `script-${script()}`,
      version: 2,
      repeated: false,
      events: [{ type: 'ScriptChanged', version: 2, metadata: rest }],
    });
    const [event] = recordedBy(outcome);
    expect(outcome).toHaveProperty('position', event?.position);
    expect(await scriptRow()).toMatchObject({
      name: 'New',
      stream_version: 2,
      updated_by: 'ada@example.com',
    });
  });

  test('is announced once, after the commit', async () => {
    const seen: Promise<unknown>[] = [];
    const pipeline = platform.pipeline({
      announce: (events) =>
        seen.push(
          platform.pool.query('SELECT FROM events WHERE event_id = $1', [events[0]?.eventId]),
        ),
    });
    await pipeline.execute(name('New'), userContext());
    expect(seen).toHaveLength(1);
    expect(await seen[0]).toMatchObject({ rowCount: 1 });
  });

  test('records and announces nothing when it changes nothing', async () => {
    const before = await stored();
    const outcome = await execute(name('Report'));
    expect(outcome).toMatchObject({ kind: 'accepted', events: [], version: 1 });
    expect(await stored()).toEqual(before);
    expect(platform.announced).toEqual([]);
  });

  test('records nothing when a value differs only in the order of its keys', async () => {
    const limits = { ...defaultLimits, cpu_seconds: 1 };
    const change = { type: 'ChangeScript', scriptId: script(), settings: { limits } } as const;
    await platform.accepted(change);
    expect(await platform.accepted(change)).toEqual([]);
  });
});

describe('a refused command', () => {
  test('records and announces nothing', async () => {
    const before = await stored();
    const refused = { ...name('New'), expectedVersion: 7 };
    const outcome = await execute(refused, { fingerprint: 'x' });
    expect(answersOf([outcome])).toEqual(['version_mismatch']);
    expect(await stored()).toEqual(before);
    expect(platform.announced).toEqual([]);
  });

  test('can be accepted when it is sent again later', async () => {
    const context = once();
    const change = { ...name('New'), expectedVersion: 2 };
    expect(answersOf([await execute(change, context)])).toEqual(['version_mismatch']);
    await platform.accepted(name('Meanwhile'));
    expect(await execute(change, context)).toMatchObject({ kind: 'accepted', version: 3 });
  });

  test.each([
    name('a\0b'),
    name('half a pair \ud83d'),
    { ...name('New'), settings: { tags: ['a', '\0'] } },
    createUser({ name: '\0' }),
    recordRefusal({ resource: '\0' }),
  ])('explains that text cannot be stored: %j', async (command) => {
    const before = await stored();
    expect(answersOf([await execute(command)])).toEqual(['validation_failed']);
    expect(await platform.commands.check(command)).toMatchObject({ code: 'validation_failed' });
    expect(await stored()).toEqual(before);
  });
});

describe('a dry run of a command', () => {
  test('returns the refusal and records nothing', async () => {
    const before = await stored();
    expect(await platform.commands.check(name('New'))).toBeUndefined();
    expect(await platform.commands.check(runScript({ scriptId: scriptId(9999) }))).toMatchObject({
      code: 'not_found',
    });
    expect(await stored()).toEqual(before);
  });
});

describe('an idempotent command', () => {
  test('returns the same response when repeated, and has no further effect', async () => {
    const first = await execute(name('New'), once());
    const before = await stored();
    await platform.accepted(name('Meanwhile'));
    expect(await execute(name('New'), once())).toEqual({ ...first, events: [], repeated: true });
    expect((await stored())?.events).toBe((before?.events ?? 0) + 1);
    expect(platform.announced).toHaveLength(2);
  });

  test('is refused as mismatched when repeated with another fingerprint', async () => {
    await execute(name('New'), once());
    const other = await execute(name('Other'), { ...once(), fingerprint: 'other' });
    expect(other).toEqual({ kind: 'mismatched' });
  });

  test('is executed once when sent ten times concurrently', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => execute(name('New'), once())),
    );
    expect(answersOf(outcomes)).toEqual(outcomes.map(() => 'accepted'));
    expect(outcomes.filter((one) => one.kind === 'accepted' && !one.repeated)).toHaveLength(1);
    expect(platform.announced).toHaveLength(1);
    expect(await scriptRow()).toMatchObject({ stream_version: 2 });
  });

  test('is refused as mismatched for one of two concurrent fingerprints', async () => {
    const outcomes = await Promise.all([
      execute(name('New'), once()),
      execute(name('Other'), { ...once(), fingerprint: 'other' }),
    ]);
    expect(answersOf(outcomes)).toEqual(['accepted', 'mismatched']);
  });

  test.each([
    ['a change with an expected version', () => ({ ...name('New'), expectedVersion: 1 })],
    ['a run that takes the last slot', (turn: number) => run(turn)],
  ])(
    'returns the same response to both callers when %s is sent twice concurrently',
    async (_, command) => {
      const outcomes = await platform.whileHeld(streamOf(`script-${script()}`), [
        () => platform.pipeline({}).execute(command(1), userContext(once())),
        () => platform.pipeline({}).execute(command(2), userContext(once())),
      ]);
      expect(answersOf(outcomes)).toEqual(['accepted', 'accepted']);
      const positions = outcomes.map((one) => one.kind === 'accepted' && one.position);
      expect(positions[0]).toEqual(positions[1]);
      expect(platform.announced).toHaveLength(1);
    },
  );

  test('can still be executed after a rollback', async () => {
    const crash = platform.pipeline({ projections: [...inlineProjections, failing] });
    await expect(crash.execute(name('New'), userContext(once()))).rejects.toThrow('crash');
    expect(await execute(name('New'), once())).toMatchObject({ kind: 'accepted', repeated: false });
  });
});

const failing: Projection = {
  name: 'failing',
  version: 1,
  handles: ['ScriptChanged'],
  tables: [],
  apply: () => Promise.reject(new Error('crash')),
};

describe('a command whose projection crashes', () => {
  test('records and announces nothing', async () => {
    const before = await stored();
    const crash = platform.pipeline({ projections: [...inlineProjections, failing] });
    await expect(crash.execute(name('New'), userContext())).rejects.toThrow('crash');
    expect(await stored()).toEqual(before);
    expect(await scriptRow()).toMatchObject({ name: 'Report', stream_version: 1 });
    expect(platform.announced).toEqual([]);
    expect(await execute(name('New'))).toMatchObject({ kind: 'accepted', version: 2 });
  });
});

describe('an announcement', () => {
  test('contains one message per topic that the event concerns', async () => {
    const limits = { maxConcurrentRuns: 2 };
    await platform.accepted({ type: 'ChangeScript', scriptId: script(), settings: limits });
    const told = async (command: Command) => announcements(await platform.accepted(command));
    const recorded = (type: string) => ({ topic: 'events', types: [type] });
    const status = { topic: 'status', runId: run().runId };
    expect(await told(run())).toEqual([{ topic: 'queue' }, status, recorded('RunQueued')]);
    expect(await told(start('a'))).toEqual([status, recorded('RunStarted')]);
    expect(await told({ type: 'StopRun', runId: run().runId })).toEqual([
      { topic: 'stop', runId: run().runId },
      recorded('RunStopRequested'),
    ]);
    expect(await told(name('New'))).toMatchObject([
      { topic: 'script-updated', version: 3 },
      recorded('ScriptChanged'),
    ]);
  });
});

describe('several commands in one transaction', () => {
  const together = (commands: readonly Command[], options = {}) =>
    platform.commands.executeAll(
      commands.map((command) => ({ command, context: userContext() })),
      options,
    );
  const group = () => ({
    ...createGroup(),
    groupId: groupId(number + 1000),
    name: `Group ${number}`,
  });

  test('are all recorded when each depends on the previous one', async () => {
    const mine = createScript({ scriptId: scriptId(number + 5000), groupId: group().groupId });
    const outcome = await together([group(), mine, { ...run(), scriptId: mine.scriptId }]);
    expect(outcome).toMatchObject({
      kind: 'accepted',
      outcomes: [{ version: 1 }, { version: 1 }, { version: 1 }],
    });
    expect(platform.announced.length).toBeGreaterThan(0);
  });

  test('record nothing if one is refused, and report which one', async () => {
    const before = await stored();
    const missing = createScript({ scriptId: scriptId(number + 5000), groupId: groupId(9999) });
    const outcome = await together([name('New'), group(), missing, name('Newer')]);
    expect(outcome).toMatchObject({ kind: 'refused', index: 2 });
    expect(await stored()).toEqual(before);
    expect((await scriptRow())?.name).not.toBe('New');
    expect(platform.announced).toEqual([]);
  });

  test('return their outcomes in a dry run, and record nothing', async () => {
    const before = await stored();
    const outcome = await together([group(), name('New')], { tryOnly: true });
    expect(outcome).toMatchObject({ kind: 'accepted', outcomes: [{ version: 1 }, { version: 2 }] });
    expect(await stored()).toEqual(before);
    expect(platform.announced).toEqual([]);
  });

  test('are executed completely when two sequences write the same streams', async () => {
    const other = createScript({ scriptId: scriptId(number + 5000) });
    await platform.accepted(other);
    const rename = (text: string) => [
      name(text),
      { ...name(text), scriptId: other.scriptId } as const,
    ];
    const outcomes = await Promise.all([
      together(rename('One')),
      together(rename('Other').toReversed()),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted']);
  });
});
