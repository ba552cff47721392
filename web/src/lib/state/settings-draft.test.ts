import { expect, test } from 'vitest';
import { patchOf, type SettingsDraft } from './settings-draft.ts';

const before: SettingsDraft = {
  name: 'Price watcher',
  description: '',
  groupId: 'g1',
  maxConcurrentRuns: 1,
  cpuSeconds: 3600,
  memoryMib: 1024,
  wallClockSeconds: 3600,
};

test('an untouched form patches nothing', () => {
  expect(patchOf(before, { ...before })).toEqual({});
});

test('only what differs is sent, and an emptied limit is lifted', () => {
  const draft = { ...before, name: ' New name ', memoryMib: 1.5, wallClockSeconds: null };
  expect(patchOf(before, draft)).toEqual({
    name: 'New name',
    limits: { memory_bytes: 1_572_864, wall_clock_seconds: null },
  });
});
