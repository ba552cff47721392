import { given } from '#domain/testing/given.ts';
import { scriptId, secretStoreId } from '#domain/testing/ids.ts';
import { setSecret } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { secretAggregate } from './decide.ts';
import type { SecretEvent } from './events.ts';
import { maxSecrets, maxSecretsBytes } from './secret.ts';

const facts = { scriptExists: true, keyExists: true, mayUseStore: true };
const sealed = setSecret().sealed;
const deleteToken = { type: 'DeleteSecret', scriptId: scriptId(), name: 'TOKEN' } as const;
const deleted: SecretEvent = {
  type: 'SecretDeleted',
  data: { scriptId: scriptId(), name: 'TOKEN' },
};

function tokenSet(changes: Partial<Extract<SecretEvent, { type: 'SecretSet' }>['data']> = {}) {
  const data = { scriptId: scriptId(), name: 'TOKEN', version: 1, asEnvironment: false, sealed };
  return { type: 'SecretSet', data: { ...data, ...changes } } as const;
}

describe('a script without secrets', () => {
  test('accepts a secret, which becomes an environment variable only if requested', () => {
    given(secretAggregate).when(setSecret(), facts).thenRecords(tokenSet());
    given(secretAggregate)
      .when(setSecret({ asEnvironment: true }), facts)
      .thenRecords(tokenSet({ asEnvironment: true }));
  });

  test('refuses the deletion of an unknown secret', () => {
    given(secretAggregate).when(deleteToken, facts).thenRefuses('not_found');
  });

  test.each(['', '7', 'a-b', 'a b', 'a=b', 'é', 'x'.repeat(129)])(
    'refuses the name "%s"',
    (name) => {
      given(secretAggregate).when(setSecret({ name }), facts).thenRefuses('validation_failed');
    },
  );

  test.each(['PATH', 'LD_PRELOAD', 'PYTHONPATH', 'ORCH_RUN_ID'])(
    'refuses %s as an environment variable, but accepts it as a plain secret',
    (name) => {
      given(secretAggregate)
        .when(setSecret({ name, asEnvironment: true }), facts)
        .thenRefuses('validation_failed');
      given(secretAggregate).when(setSecret({ name }), facts).thenRecords(tokenSet({ name }));
    },
  );

  test('refuses changes after its deletion', () => {
    const gone = { ...facts, scriptExists: false };
    given(secretAggregate).when(setSecret(), gone).thenRefuses('not_found');
    given(secretAggregate, tokenSet()).when(deleteToken, gone).thenRefuses('not_found');
  });

  test('refuses a value whose data key was destroyed', () => {
    given(secretAggregate)
      .when(setSecret(), { ...facts, keyExists: false })
      .thenRefuses('version_mismatch');
  });
});

describe('an existing secret', () => {
  test('gets a new version when its value is set again, and keeps its other settings', () => {
    given(secretAggregate, tokenSet({ asEnvironment: true }))
      .when(setSecret({ version: 2 }), facts)
      .thenRecords(tokenSet({ version: 2, asEnvironment: true }));
  });

  test('refuses a value that was encrypted for another version', () => {
    given(secretAggregate, tokenSet())
      .when(setSecret({ version: 1 }), facts)
      .thenRefuses('version_mismatch');
  });

  test('never reuses a version after its deletion', () => {
    given(secretAggregate, tokenSet()).when(deleteToken, facts).thenRecords(deleted);
    given(secretAggregate, tokenSet({ asEnvironment: true }), deleted)
      .when(setSecret({ version: 2 }), facts)
      .thenRecords(tokenSet({ version: 2 }));
    given(secretAggregate, tokenSet(), deleted).when(deleteToken, facts).thenRefuses('not_found');
  });
});

describe('a script with the maximum number of secrets', () => {
  const many = Array.from({ length: maxSecrets }, (_, index) => tokenSet({ name: `T${index}` }));

  test('refuses another secret, but accepts a new value for an existing one', () => {
    given(secretAggregate, ...many)
      .when(setSecret(), facts)
      .thenRefuses('validation_failed');
    given(secretAggregate, ...many)
      .when(setSecret({ name: 'T7', version: 2 }), facts)
      .thenRecords(tokenSet({ name: 'T7', version: 2 }));
  });

  test('refuses values beyond the total size limit', () => {
    const ciphertext = 'x'.repeat((maxSecretsBytes * 4) / 3 + 4);
    given(secretAggregate)
      .when(setSecret({ sealed: { ...sealed, ciphertext } }), facts)
      .thenRefuses('validation_failed');
  });
});

describe('a secret in an external store', () => {
  const source = { storeId: secretStoreId(), path: 'team/database', key: 'password' };

  test('is recorded with its source and without a rotation interval', () => {
    given(secretAggregate, tokenSet({ rotateAfterDays: 30 }))
      .when(setSecret({ version: 2, source }), facts)
      .thenRecords(tokenSet({ version: 2, source }));
    given(secretAggregate)
      .when(setSecret({ source, rotateAfterDays: 30 }), facts)
      .thenRefuses('validation_failed');
  });

  test.each(['..', 'a/../b', '/a', 'a/', 'a\\b', 'a\nb'])('refuses the path %j', (path) => {
    given(secretAggregate)
      .when(setSecret({ source: { ...source, path } }), facts)
      .thenRefuses('validation_failed');
  });

  test('is refused if the group may not use the store', () => {
    given(secretAggregate)
      .when(setSecret({ source }), { ...facts, mayUseStore: false })
      .thenRefuses('validation_failed');
  });
});
