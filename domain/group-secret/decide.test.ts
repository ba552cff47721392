import { given } from '#domain/testing/given.ts';
import { groupId } from '#domain/testing/ids.ts';
import { setSecret } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import type { SetGroupSecret } from './commands.ts';
import { groupSecretAggregate } from './decide.ts';
import type { GroupSecretEvent } from './events.ts';

const facts = { groupExists: true, keyExists: true, mayUseStore: true };
const owner = { groupId: groupId() };
const { sealed } = setSecret();
const remove = { type: 'DeleteGroupSecret', ...owner, name: 'TOKEN' } as const;
const removed: GroupSecretEvent = { type: 'GroupSecretDeleted', data: { ...owner, name: 'TOKEN' } };

function set(changes: Partial<SetGroupSecret> = {}): SetGroupSecret {
  return { type: 'SetGroupSecret', ...owner, name: 'TOKEN', version: 1, sealed, ...changes };
}

function tokenSet(changes: { readonly version?: number; readonly rotateAfterDays?: number } = {}) {
  const data = { ...owner, name: 'TOKEN', version: 1, asEnvironment: false, sealed, ...changes };
  return { type: 'GroupSecretSet', data } as const;
}

describe('a group', () => {
  test('sets, updates and deletes a secret', () => {
    given(groupSecretAggregate).when(set(), facts).thenRecords(tokenSet());
    given(groupSecretAggregate, tokenSet())
      .when(set({ version: 2 }), facts)
      .thenRecords(tokenSet({ version: 2 }));
    given(groupSecretAggregate, tokenSet()).when(remove, facts).thenRecords(removed);
  });

  test('never reuses the version of a secret, and refuses to delete an unknown secret', () => {
    given(groupSecretAggregate, tokenSet(), removed)
      .when(set(), facts)
      .thenRefuses('version_mismatch');
    given(groupSecretAggregate).when(remove, facts).thenRefuses('not_found');
    given(groupSecretAggregate, tokenSet(), removed).when(remove, facts).thenRefuses('not_found');
  });

  test('refuses changes after its deletion', () => {
    const gone = { ...facts, groupExists: false };
    given(groupSecretAggregate).when(set(), gone).thenRefuses('not_found');
    given(groupSecretAggregate, tokenSet()).when(remove, gone).thenRefuses('not_found');
  });
});

describe('the rotation of a secret', () => {
  test('keeps its interval until the interval is changed or removed', () => {
    const yearly = tokenSet({ rotateAfterDays: 365 });
    given(groupSecretAggregate)
      .when(set({ rotateAfterDays: 365 }), facts)
      .thenRecords(yearly);
    given(groupSecretAggregate, yearly)
      .when(set({ version: 2 }), facts)
      .thenRecords(tokenSet({ version: 2, rotateAfterDays: 365 }));
    given(groupSecretAggregate, yearly)
      .when(set({ version: 2, rotateAfterDays: null }), facts)
      .thenRecords(tokenSet({ version: 2 }));
  });

  test.each([0, -1, 1.5, 3_651])('refuses an interval of %s days', (rotateAfterDays) => {
    given(groupSecretAggregate)
      .when(set({ rotateAfterDays }), facts)
      .thenRefuses('validation_failed');
  });
});
