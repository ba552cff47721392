import { groupId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createScript, sealed, setSecret } from '#domain/testing/samples.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkRotations } from './rotations.ts';

let platform: TestPlatform;
beforeEach(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  await platform.accepted(createScript());
  await platform.pool.query(
    `INSERT INTO data_keys (key_id, script_id, master_key_id, wrapped_key) VALUES ($1, $2, 'x', '')`,
    [sealed.keyId, scriptId()],
  );
});
afterEach(() => platform.close());

/** Runs one check some days after the start of 2026, the time of all recorded events. */
function check(inDays: number): Promise<void> {
  const { reads, commands } = platform;
  const clock = { now: () => new Date(Date.UTC(2026, 0, 1 + inDays)) };
  return checkRotations({ reads, commands, ids: systemIds, clock });
}

async function recorded(owner: string): Promise<readonly string[]> {
  const { rows } = await platform.pool.query<{ text: string }>(
    `SELECT concat_ws(' ', type, data ->> 'name', data ->> 'version', data ->> 'ownerName', data ->> 'reason') AS text
    FROM events WHERE stream_id = 'rotation-' || $1 ORDER BY version`,
    [owner],
  );
  return rows.map(({ text }) => text);
}

describe('a script secret', () => {
  const due = 'SecretRotationDue TOKEN 1 Report';

  test('is reported as due once, even with several schedulers, until it has a new value', async () => {
    await platform.accepted(setSecret({ rotateAfterDays: 30 }));
    await platform.accepted(setSecret({ name: 'KEY' }));
    await check(29);
    expect(await recorded(scriptId())).toEqual([]);
    await Promise.all([check(31), check(31), check(31)]);
    await check(32);
    expect(await recorded(scriptId())).toEqual([due]);
    await platform.accepted(setSecret({ version: 2 }));
    await Promise.all([check(29), check(29)]);
    const cleared = 'SecretRotationCleared TOKEN 1 Report replaced';
    expect(await recorded(scriptId())).toEqual([due, cleared]);
    await check(31);
    expect(await recorded(scriptId())).toHaveLength(3);
  });

  test.each([
    ['it is deleted', { type: 'DeleteSecret', scriptId: scriptId(), name: 'TOKEN' }],
    ['its script is deleted', { type: 'DeleteScript', scriptId: scriptId() }],
  ] as const)('is no longer due when %s', async (_when, command) => {
    await platform.accepted(setSecret({ rotateAfterDays: 30 }));
    await check(31);
    await platform.accepted(command);
    await check(31);
    const cleared = 'SecretRotationCleared TOKEN 1 Report removed';
    expect(await recorded(scriptId())).toEqual([due, cleared]);
  });
});

test('a group secret that is due for rotation is reported with the name of the group', async () => {
  const { type: _type, scriptId: _scriptId, ...change } = setSecret({ rotateAfterDays: 30 });
  await platform.accepted({ type: 'SetGroupSecret', groupId: groupId(), ...change });
  await check(31);
  expect(await recorded(groupId())).toEqual([
    expect.stringMatching(/^SecretRotationDue TOKEN 1 \S+/),
  ]);
});
