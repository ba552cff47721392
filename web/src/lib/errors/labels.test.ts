import { expect, test } from 'vitest';
import { placeOf, statusSentence, titleOf } from './labels.ts';

test('the title of an exception consists of its type and the first line of its message', () => {
  const message = "could not convert: 'n/a'\nrow 7";
  expect(titleOf({ type: 'ValueError', message })).toBe("ValueError: could not convert: 'n/a'");
  expect(titleOf({ type: 'KeyboardInterrupt', message: '' })).toBe('KeyboardInterrupt');
});

test('the title of a failure without an exception is its description', () => {
  const message = 'Time limit of 2 s exceeded.';
  expect(titleOf({ type: 'timeout', message: 'time limit of 2 s exceeded.' })).toBe(message);
  expect(titleOf({ type: 'memory_limit', message })).toBe(message);
});

test('the location of an error names the script, the number of other scripts, and the line', () => {
  const group = { script_name: 'Import', script_ids: ['s1'], place: 'main.py:3' };
  expect(placeOf(group)).toBe('Import · main.py:3');
  expect(placeOf({ ...group, script_ids: ['s1', 's2', 's3'] })).toBe(
    'Import and 2 more · main.py:3',
  );
  expect(placeOf({ ...group, place: null })).toBe('Import');
});

test('the status of a resolved error names the version that fixed it', () => {
  const fixed = { status: 'resolved', resolved_in_version: 4, ignored_until: null } as const;
  expect(statusSentence(fixed)).toBe('Resolved in version 4');
  expect(statusSentence({ ...fixed, resolved_in_version: null })).toBe('Resolved');
});
