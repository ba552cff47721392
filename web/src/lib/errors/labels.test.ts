import { expect, test } from 'vitest';
import { statusSentence, titleOf } from './labels.ts';

test('the title of an exception contains its type and the first line of its message', () => {
  const message = "could not convert: 'n/a'\nrow 7";
  expect(titleOf({ type: 'ValueError', message })).toBe("ValueError: could not convert: 'n/a'");
  expect(titleOf({ type: 'KeyboardInterrupt', message: '' })).toBe('KeyboardInterrupt');
});

test('the title of a failure without an exception is its description', () => {
  const message = 'Time limit of 2 s exceeded.';
  expect(titleOf({ type: 'timeout', message: 'time limit of 2 s exceeded.' })).toBe(message);
  expect(titleOf({ type: 'memory_limit', message })).toBe(message);
});

test('the status names the version that fixed the error', () => {
  const fixed = { status: 'resolved', resolved_in_version: 4, ignored_until: null } as const;
  expect(statusSentence(fixed)).toBe('Resolved in version 4');
  expect(statusSentence({ ...fixed, resolved_in_version: null })).toBe('Resolved');
});
