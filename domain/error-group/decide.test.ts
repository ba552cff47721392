import { given } from '#domain/testing/given.ts';
import { errorGroupId, runId, scriptId } from '#domain/testing/ids.ts';
import { describe, test } from 'vitest';
import { errorGroupAggregate } from './decide.ts';
import type { ErrorGroupEvent } from './events.ts';

const id = { errorGroupId: errorGroupId() };
const fixed = (version: number | null) => (version === null ? {} : { scriptId: scriptId() });
const resolve = (version: number | null) =>
  ({ type: 'ResolveErrorGroup', ...id, version, ...fixed(version) }) as const;
const ignore = (until: string | null) => ({ type: 'IgnoreErrorGroup', ...id, until }) as const;
const open = {
  type: 'ReopenErrorGroup',
  ...id,
  runId: null,
  scriptId: null,
  version: null,
} as const;
const recurs = (version: number, of = scriptId()) =>
  ({ type: 'ReopenErrorGroup', ...id, runId: runId(), scriptId: of, version }) as const;

const resolved = (version: number | null): ErrorGroupEvent => ({
  type: 'ErrorGroupResolved',
  data: { ...id, version, ...fixed(version) },
});
const ignored: ErrorGroupEvent = { type: 'ErrorGroupIgnored', data: { ...id, until: null } };
const opened: ErrorGroupEvent = { type: 'ErrorGroupReopened', data: { ...id, runId: null } };
const reopened: ErrorGroupEvent = { type: 'ErrorGroupReopened', data: { ...id, runId: runId() } };

describe('an open error group', () => {
  test('is resolved only once', () => {
    given(errorGroupAggregate).when(resolve(4)).thenRecords(resolved(4));
    given(errorGroupAggregate, resolved(4)).when(resolve(4)).thenRecordsNothing();
    given(errorGroupAggregate, resolved(4)).when(resolve(5)).thenRecords(resolved(5));
  });

  test('is ignored only once', () => {
    given(errorGroupAggregate).when(ignore(null)).thenRecords(ignored);
    given(errorGroupAggregate, ignored).when(ignore(null)).thenRecordsNothing();
  });

  test('stays open when the error recurs', () => {
    given(errorGroupAggregate).when(recurs(3)).thenRecordsNothing();
  });
});

describe('a resolved error group', () => {
  test('can be reopened by a user', () => {
    given(errorGroupAggregate, resolved(4)).when(open).thenRecords(opened);
  });

  test('reopens when the error recurs in the fixed version or a later one', () => {
    given(errorGroupAggregate, resolved(4)).when(recurs(4)).thenRecords(reopened);
    given(errorGroupAggregate, resolved(4)).when(recurs(9)).thenRecords(reopened);
    given(errorGroupAggregate, resolved(null)).when(recurs(1)).thenRecords(reopened);
  });

  test('stays resolved when the error recurs in an earlier version', () => {
    given(errorGroupAggregate, resolved(4)).when(recurs(3)).thenRecordsNothing();
  });

  test('reopens when the error recurs in another script, regardless of the version', () => {
    given(errorGroupAggregate, resolved(4))
      .when(recurs(3, scriptId(2)))
      .thenRecords(reopened);
  });

  test('compares only versions if an earlier release did not record the script', () => {
    const old: ErrorGroupEvent = { type: 'ErrorGroupResolved', data: { ...id, version: 4 } };
    given(errorGroupAggregate, old)
      .when(recurs(3, scriptId(2)))
      .thenRecordsNothing();
    given(errorGroupAggregate, old).when(recurs(4)).thenRecords(reopened);
  });
});

describe('an ignored error group', () => {
  test('stays ignored when the error recurs', () => {
    given(errorGroupAggregate, ignored).when(recurs(9)).thenRecordsNothing();
  });

  test('can be reopened by a user', () => {
    given(errorGroupAggregate, ignored).when(open).thenRecords(opened);
  });
});
