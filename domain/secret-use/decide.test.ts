import { given } from '#domain/testing/given.ts';
import { runId, scriptId } from '#domain/testing/ids.ts';
import { describe, test } from 'vitest';
import { secretUseAggregate } from './decide.ts';
import type { SecretRead } from './events.ts';

const run = { runId: runId(), scriptId: scriptId() };
const read = (...secrets: readonly SecretRead[]) =>
  ({ type: 'ReadSecrets', ...run, secrets }) as const;
const wasRead = (...secrets: readonly SecretRead[]) =>
  ({ type: 'SecretsRead', data: { ...run, secrets } }) as const;
const token = { name: 'TOKEN', version: 1 };
const other = { name: 'OTHER', version: 1 };

describe('a run without secrets', () => {
  test('records each value that it receives', () => {
    given(secretUseAggregate).when(read(token, other)).thenRecords(wasRead(token, other));
  });
});

describe('a run that has received a value', () => {
  test('does not record the same value again', () => {
    given(secretUseAggregate, wasRead(token)).when(read(token)).thenRecordsNothing();
  });

  test('records a value of another secret, and a newer version of the same secret', () => {
    const newer = { ...token, version: 2 };
    given(secretUseAggregate, wasRead(token))
      .when(read(token, other, newer))
      .thenRecords(wasRead(other, newer));
  });
});
