import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { unpreparedDetail } from './outcome.ts';

test('a preparation that failed at a file reports the reason without host paths', async () => {
  const error: unknown = await readFile('/dev/null/file').catch((reason: unknown) => reason);
  const detail = unpreparedDetail(error);
  expect(detail).toContain('is not usable (ENOTDIR: not a directory)');
  expect(detail).not.toContain('/dev/null');
});

test('another failed preparation refers to the log of the runtime', () => {
  expect(unpreparedDetail(new Error('connect ECONNREFUSED 127.0.0.1'))).toBe(
    'The run could not be prepared. See the log of the runtime.',
  );
});
