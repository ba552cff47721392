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

describe('given a run', () => {
  test('when it is given values, then each is recorded', () => {
    given(secretUseAggregate).when(read(token, other)).thenRecords(wasRead(token, other));
  });
});

describe('given a run that was given a value', () => {
  test('when it is given that again, then nothing is recorded', () => {
    given(secretUseAggregate, wasRead(token)).when(read(token)).thenRecordsNothing();
  });

  test('when it is given another or a newer one, then that one is recorded', () => {
    const newer = { ...token, version: 2 };
    given(secretUseAggregate, wasRead(token))
      .when(read(token, other, newer))
      .thenRecords(wasRead(other, newer));
  });
});
