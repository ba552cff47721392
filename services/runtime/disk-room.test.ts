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

test('a claim measures the disk at most once per second, and each time while the disk is full', async () => {
  let [timeMs, freeBytes, measurements] = [0, 500 * mebibyte, 0];
  const measure = async () => {
    measurements += 1;
    return { totalBytes: 1000 * mebibyte, freeBytes };
  };
  const room = new DiskRoom({ folder: '/work', logger, measure, nowMs: () => timeMs });
  const claimAt = async (ms: number) => {
    timeMs = ms;
    return { mayClaim: await room.mayClaim(), measurements };
  };
  expect(await claimAt(0)).toEqual({ mayClaim: true, measurements: 1 });
  freeBytes = 0;
  expect(await claimAt(999)).toEqual({ mayClaim: true, measurements: 1 });
  expect(await claimAt(1000)).toEqual({ mayClaim: false, measurements: 2 });
  expect(await claimAt(1001)).toEqual({ mayClaim: false, measurements: 3 });
  freeBytes = 500 * mebibyte;
  expect(await claimAt(1002)).toEqual({ mayClaim: true, measurements: 4 });
  expect(await claimAt(2001)).toEqual({ mayClaim: true, measurements: 4 });
});
