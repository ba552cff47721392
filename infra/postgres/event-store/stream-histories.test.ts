import { scriptAggregate } from '#domain/script/decide.ts';
import { formatOf, noHistory, snapshotEvery, stateAfter, versionOf } from '#domain/snapshots.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, file } from '#domain/testing/samples.ts';
import {
  openTestPlatform,
  recordedBy,
  userContext,
  type TestPlatform,
} from '#infra/testing/platform.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readStream } from './event-store.ts';
import { readHistories } from './stream-histories.ts';

const streamId = `script-${scriptId()}` as const;
const wanted = { streamId, format: formatOf(scriptAggregate) };
const length = 2 * snapshotEvery + 10;

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  await platform.accepted(createScript());
  await Promise.all(Array.from({ length: length - 1 }, (_, index) => save('ba'[index % 2])));
});
afterAll(() => platform.close());

function save(letter: string | undefined) {
  const command = { type: 'SaveFile', scriptId: scriptId(), ...file('main.py', letter) } as const;
  return platform.commands.execute(command, userContext());
}

const history = async (until?: number) =>
  (await readHistories(platform.pool, [{ ...wanted, until }])).get(streamId) ?? noHistory;

const stored = async (format = wanted.format) => {
  const { rows } = await platform.pool.query<{ version: number }>(
    'SELECT version FROM snapshots WHERE format = $1 ORDER BY version',
    [format],
  );
  return rows;
};

async function folded(until: number) {
  const events = await readStream(platform.pool, streamId, 1);
  return stateAfter(scriptAggregate, { events: events.slice(0, until) });
}

describe('a long stream', () => {
  let versions: readonly number[];
  beforeEach(async () => {
    versions = (await stored()).map(({ version }) => version);
  });

  test('gets snapshots at regular intervals', () => {
    expect(versions).toEqual([snapshotEvery, 2 * snapshotEvery]);
  });

  test('is read from the last snapshot before the requested position', async () => {
    for (const [until, from] of [
      [undefined, 2 * snapshotEvery],
      [2 * snapshotEvery, 2 * snapshotEvery],
      [2 * snapshotEvery - 1, snapshotEvery],
      [snapshotEvery - 1, undefined],
      [0, undefined],
    ] as const) {
      const read = await history(until);
      expect(read.from?.last.version).toBe(from);
      expect(versionOf(read)).toBe(until ?? length);
      expect(stateAfter(scriptAggregate, read)).toEqual(await folded(until ?? length));
    }
  });

  test('returns the same position for a command without changes, with or without a newer snapshot', async () => {
    await platform.pool.query('DELETE FROM snapshots WHERE version > $1', [snapshotEvery]);
    const command = { type: 'EnableScript', scriptId: scriptId() } as const;
    const before = await platform.commands.execute(command, userContext());
    await platform.pool.query(
      `INSERT INTO snapshots (stream_id, format, version, event_id, state, size)
      SELECT s.stream_id, s.format, e.version, e.event_id, s.state, s.size FROM snapshots s
      JOIN events e USING (stream_id) WHERE e.version = $1`,
      [length],
    );
    expect((await history()).events).toEqual([]);
    expect(await platform.commands.execute(command, userContext())).toEqual(before);
  });
});

describe.each([
  ['are lost', 'DELETE FROM snapshots'],
  ['have another format', `UPDATE snapshots SET format = 'of old'`],
  ['belong to another history', 'UPDATE snapshots SET event_id = gen_random_uuid()'],
])('snapshots that %s', (_, spoil) => {
  test('are ignored, and are replaced after the next command', async () => {
    await platform.pool.query(spoil);
    const whole = await history();
    expect([whole.from, versionOf(whole)]).toEqual([undefined, whole.events.length]);
    const letter = 'cd'[whole.events.length % 2];
    const [event] = recordedBy(await save(letter));
    expect(event?.version).toBe(whole.events.length + 1);
    const versions = (await stored()).map((one) => one.version);
    expect(versions).toEqual([snapshotEvery, 2 * snapshotEvery]);
    const state = stateAfter(scriptAggregate, await history());
    expect(state).toEqual(await folded(whole.events.length + 1));
  });
});

test('snapshots in another format are deleted when their stream gets its next snapshot', async () => {
  await platform.pool.query('DELETE FROM snapshots');
  await save('e');
  await platform.pool
    .query(`INSERT INTO snapshots (stream_id, format, version, event_id, state, size)
    SELECT stream_id, 'of old', version, event_id, state, size FROM snapshots`);
  await save('f');
  expect(await stored('of old')).toHaveLength(2);
  const saves = Array.from({ length: snapshotEvery }, (_, index) => save('ef'[index % 2]));
  await Promise.all(saves);
  expect(await stored('of old')).toEqual([]);
  expect(await stored()).toHaveLength(3);
});
