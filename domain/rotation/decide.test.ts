import { given } from '#domain/testing/given.ts';
import { groupId, scriptId } from '#domain/testing/ids.ts';
import { describe, expect, test } from 'vitest';
import type { NoteRotations } from './commands.ts';
import { rotationAggregate } from './decide.ts';
import type { RotationEvent } from './events.ts';
import { rotationNews } from './news.ts';
import type { RotationClearedReason } from './rotation.ts';

const owner = { scriptId: scriptId(), groupId: null };
const token = {
  name: 'TOKEN',
  version: 1,
  ownerName: 'Report',
  dueAt: '2026-04-01T00:00:00.000Z',
};
const key = { ...token, name: 'KEY' };

const due = (one = token): RotationEvent => ({
  type: 'SecretRotationDue',
  data: { ...owner, ...one },
});
const cleared = (reason: RotationClearedReason, one = token): RotationEvent => ({
  type: 'SecretRotationCleared',
  data: { ...owner, ...one, reason },
});
const note = (seen: number, changes: Partial<NoteRotations> = {}): NoteRotations => ({
  type: 'NoteRotations',
  ...owner,
  due: [],
  present: ['TOKEN', 'KEY'],
  seen,
  ...(changes as object),
});

describe('a due rotation', () => {
  test('is recorded only once', () => {
    given(rotationAggregate)
      .when(note(0, { due: [token, key] }))
      .thenRecords(due(), due(key));
    given(rotationAggregate, due())
      .when(note(1, { due: [{ ...token, ownerName: 'Renamed' }, key] }))
      .thenRecords(due(key));
  });

  test('is cleared when the secret receives a new value or is deleted', () => {
    given(rotationAggregate, due(), due(key))
      .when(note(2, { present: ['TOKEN'] }))
      .thenRecords(cleared('replaced'), cleared('removed', key));
  });

  test('is recorded again when the next value is due', () => {
    const next = { ...token, version: 2 };
    given(rotationAggregate, due(), cleared('replaced'))
      .when(note(2, { due: [next] }))
      .thenRecords(due(next));
    given(rotationAggregate, due())
      .when(note(1, { due: [next] }))
      .thenRecords(cleared('replaced'), due(next));
  });
});

test('a check is ignored if it started before the latest recorded check', () => {
  given(rotationAggregate, due(), cleared('replaced'))
    .when(note(0, { due: [token] }))
    .thenRecordsNothing();
  given(rotationAggregate, due()).when(note(0)).thenRecordsNothing();
});

test('a notification about a rotation contains the names of the secret and its owner', () => {
  const group = { scriptId: null, groupId: groupId(), ...token, ownerName: 'Finance' };
  expect(rotationNews(due()).message).toBe(
    'The secret "TOKEN" of script "Report" has been due for rotation since 2026-04-01.',
  );
  expect(rotationNews({ type: 'SecretRotationDue', data: group }).message).toContain(
    'of group "Finance"',
  );
  expect(rotationNews(cleared('replaced')).message).toContain('has a new value');
  expect(rotationNews(cleared('removed')).message).toContain('was deleted');
});
