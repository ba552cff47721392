import { expect, test } from 'vitest';
import { DiskRoom } from './disk-room.ts';

const mebibyte = 1024 * 1024;
const logger = { warn: () => undefined, info: () => undefined };

test.each([
  [100_000, 64, undefined],
  [
    100_000,
    63,
    'only 63 MiB are free on the disk of /work, so no runs are claimed; free at least 64 MiB',
  ],
  [400, 20, undefined],
  [
    400,
    19,
    'only 19 MiB are free on the disk of /work, so no runs are claimed; free at least 20 MiB',
  ],
])(
  'low disk space is reported only below the reserve: %i MiB in total, %i MiB free',
  async (total, free, problem) => {
    const measure = async () => ({ totalBytes: total * mebibyte, freeBytes: free * mebibyte });
    const room = new DiskRoom({ folder: '/work', logger, measure });
    expect(await room.hasRoom()).toBe(problem === undefined);
    expect(room.problem).toBe(problem);
  },
);

test('a full disk and its recovery are each reported once', async () => {
  const lines: unknown[] = [];
  const note = (...line: unknown[]) => void lines.push(line.at(-1));
  let freeBytes = 0;
  const room = new DiskRoom({
    folder: '/work',
    logger: { warn: note, info: note },
    measure: async () => ({ totalBytes: 1000 * mebibyte, freeBytes }),
  });
  await room.hasRoom();
  await room.hasRoom();
  freeBytes = 500 * mebibyte;
  await room.hasRoom();
  await room.hasRoom();
  expect(lines).toEqual(['the disk is full', 'the disk has space again']);
});
