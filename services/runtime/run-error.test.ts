import { describe, expect, test } from 'vitest';
import { runErrorOf, type FailureFacts } from './run-error.ts';

const traceback = (type: string): string => `Traceback (most recent call last):
  File "/workspaces/s1/main.py", line 2, in <module>
    work()
${type}: wrong`;

function facts(change: Partial<FailureFacts> & Partial<FailureFacts['ending']>): FailureFacts {
  const { outcome = 'exit_code', exitCode = 1, signal = null, ...others } = change;
  return {
    ending: { outcome, exitCode, signal },
    note: undefined,
    errorText: traceback('ValueError'),
    workspace: '/workspaces/s1',
    ...others,
  };
}

describe('the error of a run', () => {
  test('is the exception that ended the script', () => {
    expect(runErrorOf(facts({}))).toMatchObject({
      type: 'ValueError',
      message: 'wrong',
      frames: [{ file: 'main.py', line: 2 }],
      source: 'log',
    });
  });

  test.each([
    ['an exit code without an exception', { exitCode: 3, errorText: 'usage: main.py' }],
    ['an exit code after a handled exception', { exitCode: 3 }],
    ['a signal after a handled exception', { exitCode: null, signal: 'SIGSEGV' }],
    ['an exit code after a record of the log', { errorText: 'INFO: 500 rows written' }],
    ['a signal', { exitCode: null, signal: 'SIGSEGV', errorText: '' }],
  ])('names %s', (_end, change) => {
    const error = runErrorOf(facts(change));
    expect(error).toMatchObject({ type: 'exit_code', frames: [], source: 'platform' });
    expect(error?.message).toMatch(/exit code [13]|SIGSEGV/);
  });

  test('names the exceeded limit, regardless of the script’s output', () => {
    const note = 'time limit of 5 s exceeded: the run was still active';
    const error = runErrorOf(facts({ outcome: 'timeout', exitCode: null, note }));
    expect(error).toEqual({
      type: 'timeout',
      message: note,
      frames: [],
      causes: [],
      source: 'platform',
    });
  });

  test('shows where the memory limit was reached', () => {
    const errorText = traceback('MemoryError');
    const error = runErrorOf(facts({ outcome: 'memory_limit', note: 'too much', errorText }));
    expect(error).toMatchObject({ type: 'memory_limit', frames: [{ line: 2 }] });
  });

  const exit = { type: 'SystemExit', message: 'exit code 2', frames: [], causes: [], exitCode: 2 };

  test.each([
    [
      'the last error in the log',
      'ERROR:root:disk is full\nINFO:root:closing',
      'ERROR:root:disk is full',
    ],
    ['the exception of a thread', `${traceback('OSError')}\n`, 'OSError: wrong'],
  ])('names %s as the reason for an exit', (_reason, errorText, reason) => {
    const error = runErrorOf(facts({ exitCode: 2, errorText, reported: exit }));
    expect(error?.message).toBe(`exit code 2: ${reason}`);
  });

  test('has the exception of another process as a cause', () => {
    const message = `\n"""\n${traceback('OSError')}\n"""`;
    const remote = { type: 'concurrent.futures.process._RemoteTraceback', message, frames: [] };
    const causes = [{ ...remote, relation: 'cause' as const }];
    const reported = { type: 'OSError', message: 'wrong', frames: [], causes, exitCode: undefined };
    const [cause] = runErrorOf(facts({ reported }))?.causes ?? [];
    expect(cause).toMatchObject({ type: 'OSError', message: 'wrong', frames: [{ line: 2 }] });
  });

  test('does not contain later records of the log', () => {
    const errorText = `${traceback('ValueError')}\nsecond line\nINFO:root:closing`;
    expect(runErrorOf(facts({ errorText }))?.message).toBe('wrong\nsecond line');
  });

  test('is a platform error if nothing was executed', () => {
    const note = 'The sandbox failed (exec): no interpreter';
    const error = runErrorOf(facts({ outcome: 'sandbox_error', workspace: undefined, note }));
    expect(error).toMatchObject({ type: 'sandbox_error', message: note });
  });

  test.each(['success', 'stopped'] as const)('is absent after the outcome "%s"', (outcome) => {
    expect(runErrorOf(facts({ outcome }))).toBeUndefined();
  });
});
