import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { endingNote, endingOf, unpreparedDetail } from './outcome.ts';
import type { RunExit } from './sandbox/sandbox.ts';

test('a preparation that fails because of a file reports the reason without host paths', async () => {
  const error: unknown = await readFile('/dev/null/file').catch((reason: unknown) => reason);
  const detail = unpreparedDetail(error);
  expect(detail).toContain('cannot be used (ENOTDIR: not a directory)');
  expect(detail).not.toContain('/dev/null');
});

test("a preparation that fails for any other reason refers to the runtime's log", () => {
  expect(unpreparedDetail(new Error('connect ECONNREFUSED 127.0.0.1'))).toBe(
    'The run could not be prepared. See the log of the runtime.',
  );
});

test('a run that ends because its runtime shuts down is recorded as stopped by the runtime', () => {
  const exit: RunExit = {
    kind: 'exited',
    exitCode: null,
    signal: 'SIGTERM',
    reason: 'stopped',
    detail: null,
    usage: { durationMs: 1, cpuSeconds: 0, maxMemoryBytes: 0, maxThreads: 1 },
  };
  expect(endingOf(exit, true).outcome).toBe('runtime_stopped');
  expect(endingNote(exit, true)).toBe('The runtime was shut down during the run.');
  expect(endingOf(exit, false).outcome).toBe('stopped');
});
