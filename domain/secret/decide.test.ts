import { given } from '#domain/testing/given.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { setSecret } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { secretAggregate } from './decide.ts';
import type { SecretEvent } from './events.ts';
import { maxSecrets, maxSecretsBytes } from './secret.ts';

const facts = { scriptExists: true, keyExists: true };
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

describe('given a script without secrets', () => {
  test('when one is set, then it is, and is no variable unless that is asked for', () => {
    given(secretAggregate).when(setSecret(), facts).thenRecords(tokenSet());
    given(secretAggregate)
      .when(setSecret({ asEnvironment: true }), facts)
      .thenRecords(tokenSet({ asEnvironment: true }));
  });

  test('when one is deleted, then there is none', () => {
    given(secretAggregate).when(deleteToken, facts).thenRefuses('not_found');
  });

  test.each(['', '7', 'a-b', 'a b', 'a=b', 'é', 'x'.repeat(129)])(
    'when the name is "%s", then it is refused',
    (name) => {
      given(secretAggregate).when(setSecret({ name }), facts).thenRefuses('validation_failed');
    },
  );

  test.each(['PATH', 'LD_PRELOAD', 'PYTHONPATH', 'ORCH_RUN_ID'])(
    'when %s is to be a variable, then it is refused; as a plain secret it is one like any other',
    (name) => {
      given(secretAggregate)
        .when(setSecret({ name, asEnvironment: true }), facts)
        .thenRefuses('validation_failed');
      given(secretAggregate).when(setSecret({ name }), facts).thenRecords(tokenSet({ name }));
    },
  );

  test('when the script is gone, then nothing can be set or deleted', () => {
    const gone = { ...facts, scriptExists: false };
    given(secretAggregate).when(setSecret(), gone).thenRefuses('not_found');
    given(secretAggregate, tokenSet()).when(deleteToken, gone).thenRefuses('not_found');
  });

  test('when the key was destroyed meanwhile, then the value has to be sealed again', () => {
    given(secretAggregate)
      .when(setSecret(), { ...facts, keyExists: false })
      .thenRefuses('version_mismatch');
  });
});

describe('given a secret', () => {
  test('when it is set again, then it has another version and stays what it is', () => {
    given(secretAggregate, tokenSet({ asEnvironment: true }))
      .when(setSecret({ version: 2 }), facts)
      .thenRecords(tokenSet({ version: 2, asEnvironment: true }));
  });

  test('when the value was sealed for another version, then it is refused', () => {
    given(secretAggregate, tokenSet())
      .when(setSecret({ version: 1 }), facts)
      .thenRefuses('version_mismatch');
  });

  test('when it is deleted and set again, then no version comes twice', () => {
    given(secretAggregate, tokenSet()).when(deleteToken, facts).thenRecords(deleted);
    given(secretAggregate, tokenSet({ asEnvironment: true }), deleted)
      .when(setSecret({ version: 2 }), facts)
      .thenRecords(tokenSet({ version: 2 }));
    given(secretAggregate, tokenSet(), deleted).when(deleteToken, facts).thenRefuses('not_found');
  });
});

describe('given as many secrets as a script may have', () => {
  const many = Array.from({ length: maxSecrets }, (_, index) => tokenSet({ name: `T${index}` }));

  test('when one more is set, then it is refused; another value of one is not', () => {
    given(secretAggregate, ...many)
      .when(setSecret(), facts)
      .thenRefuses('validation_failed');
    given(secretAggregate, ...many)
      .when(setSecret({ name: 'T7', version: 2 }), facts)
      .thenRecords(tokenSet({ name: 'T7', version: 2 }));
  });

  test('when they take too many bytes together, then it is refused', () => {
    const ciphertext = 'x'.repeat((maxSecretsBytes * 4) / 3 + 4);
    given(secretAggregate)
      .when(setSecret({ sealed: { ...sealed, ciphertext } }), facts)
      .thenRefuses('validation_failed');
  });
});
