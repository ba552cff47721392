import { mustParse, parseErrorGroupId } from '#domain/kernel/ids.ts';
import { failures } from '#domain/run/run.ts';
import type { RunFinished } from '#domain/run/events.ts';
import { noticeId, runId, scriptId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { finishRun, runScript } from '#domain/testing/samples.ts';
import { expect, test } from 'vitest';
import { whenRunFailedPostNotice } from './when-run-failed-post-notice.ts';

const errorGroup = { errorGroupId: mustParse(parseErrorGroupId, scriptId(9)), isIgnored: false };

async function reactTo(changes: Partial<RunFinished['data']>, group = errorGroup) {
  const start = { type: 'StartRun', runId: runId(), runtimeId: 'a', layers: [] } as const;
  const events = await recordAll([...beginning, runScript(), start, finishRun(changes)]);
  const newId = (name: string) => (name === 'notice' ? noticeId(7) : '');
  return await whenRunFailedPostNotice.react(
    events.at(-1)!,
    reactionReads({ errorGroupOf: async () => group }),
    newId,
  );
}

test('a failed run causes a notice about the outcome in the inbox of its group', async () => {
  expect(await reactTo({ outcome: 'exit_code', exitCode: 3 })).toEqual([
    {
      type: 'PostNotice',
      noticeId: noticeId(7),
      runId: runId(),
      scriptId: scriptId(),
      on: 'failed',
      level: 'error',
      message: 'The run failed with exit code 3.',
    },
  ]);
  const error = { type: 'ValueError', source: 'log', fingerprint: '', sha256: '' } as const;
  expect(await reactTo({ outcome: 'exit_code', exitCode: 1, error })).toMatchObject([
    {
      message: 'The run failed with ValueError (exit code 1).',
      errorGroupId: errorGroup.errorGroupId,
    },
  ]);
  expect(await reactTo({ outcome: 'exit_code', exitCode: null, signal: 'SIGSEGV' })).toMatchObject([
    { message: 'The run was terminated by SIGSEGV.' },
  ]);
});

test.each(failures)(
  'the notice about the outcome %s states the failure in a sentence',
  async (outcome) => {
    const [told] = await reactTo({ outcome, exitCode: 1 });
    expect(told).toMatchObject({ message: expect.stringMatching(/^The run failed.*\.$/) });
  },
);

test('an ignored error causes no notice', async () => {
  const error = { type: 'ValueError', source: 'log', fingerprint: '', sha256: '' } as const;
  const ignored = { ...errorGroup, isIgnored: true };
  expect(await reactTo({ outcome: 'exit_code', exitCode: 1, error }, ignored)).toEqual([]);
});

test.each(['success', 'stopped'] as const)('the outcome %s causes no notice', async (outcome) => {
  expect(await reactTo({ outcome })).toEqual([]);
});
