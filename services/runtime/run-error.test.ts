import { describe, expect, test } from 'vitest';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { fingerprintOf } from '#domain/run/error/fingerprint.ts';
import { endOfRecord } from '#domain/run/error/plain-log.ts';
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
    ['a signal after a handled exception', { exitCode: null, signal: 'SIGSEGV' }],
    ['an exit code after a log record', { errorText: 'INFO: 500 rows written' }],
    ['a signal', { exitCode: null, signal: 'SIGSEGV', errorText: '' }],
  ])('names only the exit code or signal for %s', (_end, change) => {
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

  test.each(['cause', 'context'] as const)(
    'shows a MemoryError that is the %s of the last exception',
    (relation) => {
      const exception = { type: 'NoReport', message: 'no rows', frames: [], exitCode: undefined };
      const cause = { ...exception, type: 'MemoryError', message: '', relation };
      const error = runErrorOf(facts({ reported: { ...exception, causes: [cause] } }));
      expect(error).toMatchObject({ type: 'NoReport', message: 'no rows (after a MemoryError)' });
    },
  );

  const exit = { type: 'SystemExit', message: 'exit code 2', frames: [], causes: [], exitCode: 2 };

  test.each([
    [
      'the last error in the log',
      'ERROR:root:disk is full\nINFO:root:closing',
      'ERROR:root:disk is full',
    ],
    ['the exception of a thread', `${traceback('OSError')}\n`, 'OSError: wrong'],
  ])('names %s as the reason for a failing `sys.exit`', (_reason, errorText, reason) => {
    const error = runErrorOf(facts({ exitCode: 2, errorText, reported: exit }));
    expect(error?.message).toBe(`exit code 2: ${reason}`);
  });

  test('names only the exit text as the reason if `sys.exit` has a text', () => {
    const errorText = 'ERROR:root:disk is full\nno input';
    const reported = { ...exit, message: 'no input', exitCode: 1 };
    expect(runErrorOf(facts({ errorText, reported }))?.message).toBe('no input');
  });

  test.each([1, 2])('is the last exception in the log after exit code %s', (exitCode) => {
    expect(runErrorOf(facts({ exitCode }))).toMatchObject({ type: 'ValueError', source: 'log' });
    const errorText = `ERROR:root:not loaded\n${traceback('ValueError')}`;
    expect(runErrorOf(facts({ exitCode, errorText }))).toMatchObject({
      type: 'SystemExit',
      message: `exit code ${exitCode}`,
      causes: [{ type: 'ValueError' }],
    });
  });

  test('is a SystemExit with a handled exception from stdout as its context', () => {
    const outputText = `${traceback('ValueError')}\n`;
    const causes = [{ type: 'ValueError', frames: [{ line: 2 }], relation: 'context' }];
    const message = 'exit code 1';
    expect(runErrorOf(facts({ errorText: '', outputText }))).toMatchObject({ message, causes });
    const change = { errorText: '', outputText, exitCode: 2, reported: exit };
    expect(runErrorOf(facts(change))).toMatchObject({
      message: 'exit code 2: ValueError: wrong',
      causes,
    });
  });

  test('is grouped by the exception that was logged before the exit', () => {
    const groupOf = (type: string) => {
      const errorText = `ERROR:root:not loaded\n${traceback(type)}`;
      const error = runErrorOf(facts({ exitCode: 2, errorText, reported: exit }));
      return error && fingerprintOf(error, 's1' as ScriptId);
    };
    expect(groupOf('ValueError')).not.toBe(groupOf('OSError'));
    expect(groupOf('ValueError')).toBe(groupOf('ValueError'));
  });

  test('is a SystemExit with the last logged error as its reason', () => {
    const record = `ERROR: disk is full\n${endOfRecord}\n`;
    for (const text of [{ errorText: record }, { errorText: '', outputText: record }]) {
      const error = runErrorOf(facts({ ...text, exitCode: 2 }));
      expect(error).toMatchObject({ type: 'SystemExit', causes: [], source: 'log' });
      expect(error?.message).toBe('exit code 2: ERROR: disk is full');
    }
  });

  test('never contains JSON from the log in its message', () => {
    const errorText = '{"status": "error", "rows": 3}';
    for (const reported of [undefined, exit]) {
      const error = runErrorOf(facts({ exitCode: reported?.exitCode ?? 1, errorText, reported }));
      expect(error?.message).not.toContain('{');
    }
  });

  test.each([
    ['a printed exception', traceback('ValueError')],
    ['a logged exception', `ERROR:root:x\n${traceback('ValueError')}`],
    ['a JSON record', `ERROR: x\n${traceback('ValueError')}\n${endOfRecord}`],
  ])('is the exit message that follows %s', (_case, printed) => {
    const errorText = `${printed}\nno input\n`;
    const causes = [{ type: 'ValueError', message: 'wrong' }];
    const reported = { ...exit, message: 'no input', exitCode: 1 };
    expect(runErrorOf(facts({ errorText }))).toMatchObject({ message: 'no input', causes });
    expect(runErrorOf(facts({ errorText, reported }))).toMatchObject({
      message: 'no input',
      causes,
    });
  });

  test('has the stack frames that the faulthandler watchdog printed', () => {
    const errorText = `INFO:root:loading
Timeout (0:00:01)!
Thread 0x00007f40d02846c0 (most recent call first):
  File "/workspaces/s1/main.py", line 3 in wait

Thread 0x00007f40d0dceb80 (most recent call first):
  File "/workspaces/s1/main.py", line 7 in load
  File "/workspaces/s1/main.py", line 8 in <module>
`;
    expect(runErrorOf(facts({ errorText }))).toMatchObject({
      type: 'exit_code',
      message: 'The script exited with exit code 1. faulthandler: Timeout (0:00:01)!',
      frames: [{ line: 8 }, { line: 7, function: 'load' }],
    });
    const later = runErrorOf(facts({ errorText: `${errorText}no input` }));
    expect(later).toMatchObject({ type: 'SystemExit', message: 'no input' });
  });

  test('is a SystemExit if the last traceback belongs to a log record', () => {
    const errorText = `ERROR:root:not loaded\n${traceback('ValueError')}`;
    expect(runErrorOf(facts({ errorText }))).toMatchObject({
      type: 'SystemExit',
      message: 'exit code 1',
      frames: [],
      causes: [{ type: 'ValueError', message: 'wrong', relation: 'context' }],
      source: 'log',
    });
  });

  test('has the stack frames of a fatal interpreter error', () => {
    const errorText = `Fatal Python error: Segmentation fault

Current thread 0x00007f575db7f2c0 (most recent call first):
  File "/workspaces/s1/main.py", line 4 in load
  File "/workspaces/s1/main.py", line 9 in <module>`;
    const change = { exitCode: null, signal: 'SIGSEGV', errorText };
    expect(runErrorOf(facts(change))).toMatchObject({
      type: 'exit_code',
      message: 'The script was killed by SIGSEGV. Fatal Python error: Segmentation fault',
      frames: [{ line: 9 }, { line: 4, function: 'load' }],
      source: 'platform',
    });
  });

  test.each([
    ['[Errno 11] Again', 'os.fork()', /\(limit of 9 processes reached\)$/],
    ['[Errno 11] Again', 'socket.recv(9)', /Again$/],
    ["can't start new thread", 'start()', /\(limit of 9 processes reached\)$/],
    ["[Errno 28] No space: 'a'", 'write()', /: 'a' \(the disk of the runtime.* is full\)$/],
    [
      '[Errno 27] File too large',
      'write()',
      /large \(a file would exceed the disk limit of the run\)$/,
    ],
    ['[Errno 2] No such file', 'open()', /file$/],
  ])('names the limit that caused an exception, if any: %s in %s', (message, code, expected) => {
    const frames = [{ file: '/workspaces/s1/main.py', line: 1, function: 'f', code }];
    const reported = { ...exit, type: 'OSError', message, frames, exitCode: undefined };
    const note = 'limit of 9 processes reached: 2 more rejected';
    expect(runErrorOf(facts({ reported, note }))?.message).toMatch(expected);
  });

  test.each(['"""', "'''"])(
    'has an exception from another process, quoted with %s, as a cause',
    (quotes) => {
      const during = 'During handling of the above exception, another exception occurred:';
      const text = `${traceback('KeyError')}\n\n${during}\n\n${traceback('OSError')}`;
      const message = `\n${quotes}\n${text}\n${quotes}`;
      const remote = { type: 'concurrent.futures.process._RemoteTraceback', message, frames: [] };
      const causes = [{ ...remote, relation: 'cause' as const }];
      const reported = {
        type: 'OSError',
        message: 'wrong',
        frames: [],
        causes,
        exitCode: undefined,
      };
      expect(runErrorOf(facts({ reported }))?.causes).toMatchObject([
        { type: 'OSError', message: 'wrong', frames: [{ line: 2 }], relation: 'cause', depth: 1 },
        { type: 'KeyError', frames: [{ line: 2 }], relation: 'context', depth: 2 },
      ]);
    },
  );

  test('does not contain log records that follow the exception', () => {
    const errorText = `${traceback('ValueError')}\nsecond line\nINFO:root:closing`;
    expect(runErrorOf(facts({ errorText }))?.message).toBe('wrong\nsecond line');
  });

  test('is a platform error if the script was not executed', () => {
    const note = 'The sandbox failed (exec): no interpreter';
    const error = runErrorOf(facts({ outcome: 'sandbox_error', workspace: undefined, note }));
    expect(error).toMatchObject({ type: 'sandbox_error', message: note });
  });

  test.each(['success', 'stopped'] as const)('is absent if the outcome is "%s"', (outcome) => {
    expect(runErrorOf(facts({ outcome }))).toBeUndefined();
  });
});
