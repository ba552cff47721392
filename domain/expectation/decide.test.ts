import { given } from '#domain/testing/given.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { describe, test } from 'vitest';
import type { NoteExpectations } from './commands.ts';
import { expectationAggregate } from './decide.ts';
import type { ExpectationEvent } from './events.ts';

const id = { scriptId: scriptId() };
const stale = {
  on: 'script_stale',
  key: 'success_within 60',
  runId: null,
  detail: 'Stale.',
} as const;
const long = { on: 'run_too_long', key: 'longer_than 2', runId: runId(), detail: 'Long.' } as const;
const missed = (one: typeof stale | typeof long): ExpectationEvent => ({
  type: 'ExpectationMissed',
  data: { ...id, ...one },
});
const cleared = (
  { on, key, runId: run }: typeof stale | typeof long,
  reason: 'met' | 'not_checked',
): ExpectationEvent => ({
  type: 'ExpectationCleared',
  data: { ...id, on, key, runId: run, reason },
});
const note = (seen: number, changes: Partial<NoteExpectations> = {}): NoteExpectations => ({
  type: 'NoteExpectations',
  ...id,
  missed: [],
  checked: [stale.key, long.key],
  seen,
  ...changes,
});

describe('a missed expectation', () => {
  test('is recorded only once, or once for each run that takes too long', () => {
    const other = { ...long, runId: runId(2) };
    given(expectationAggregate)
      .when(note(0, { missed: [stale, long] }))
      .thenRecords(missed(stale), missed(long));
    given(expectationAggregate, missed(stale), missed(long))
      .when(note(2, { missed: [{ ...stale, detail: 'Still stale.' }, long] }))
      .thenRecordsNothing();
    given(expectationAggregate, missed(long))
      .when(note(1, { missed: [long, other] }))
      .thenRecords({ type: 'ExpectationMissed', data: { ...id, ...other } });
  });

  test('is cleared when it is met again or no longer checked', () => {
    given(expectationAggregate, missed(stale), missed(long))
      .when(note(2, { checked: [stale.key] }))
      .thenRecords(cleared(stale, 'met'), cleared(long, 'not_checked'));
  });

  test('is recorded again if it is missed again after it was cleared', () => {
    given(expectationAggregate, missed(stale), cleared(stale, 'met'))
      .when(note(2, { missed: [stale] }))
      .thenRecords(missed(stale));
  });
});

test('a check is ignored if it started before the latest recorded check', () => {
  given(expectationAggregate, missed(stale), cleared(stale, 'met'))
    .when(note(0, { missed: [stale] }))
    .thenRecordsNothing();
  given(expectationAggregate, missed(stale)).when(note(0)).thenRecordsNothing();
});
