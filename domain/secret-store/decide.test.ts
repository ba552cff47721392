import { given } from '#domain/testing/given.ts';
import { groupId, secretStoreId } from '#domain/testing/ids.ts';
import { createSecretStore } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { secretStoreAggregate } from './decide.ts';
import type { SecretStoreEvent } from './events.ts';
import type { VaultConnection } from './store.ts';

const facts = { keyExists: true, missingGroupId: undefined, nameTaken: false, users: [] };
const connection: VaultConnection = {
  type: 'vault',
  address: 'https://vault.example.com',
  namespace: null,
  mount: 'secret',
  kvVersion: 2,
  auth: { type: 'token' },
};
const sealed = { keyId: 'key', nonce: 'nonce', ciphertext: 'ciphertext' };
const { type: _, ...files } = createSecretStore();
const filesCreated: SecretStoreEvent = { type: 'SecretStoreCreated', data: files };
const ids = { secretStoreId: secretStoreId() };
const vaultCreated: SecretStoreEvent = {
  type: 'SecretStoreCreated',
  data: { ...files, connection, sealed },
};
const remove = { type: 'DeleteSecretStore', ...ids } as const;
const store = (...events: readonly SecretStoreEvent[]) => given(secretStoreAggregate, ...events);

describe('a secret store that does not exist yet', () => {
  test('can be created', () => {
    store().when(createSecretStore(), facts).thenRecords(filesCreated);
    store().when(createSecretStore({ connection, sealed }), facts).thenRecords(vaultCreated);
  });

  test.each([{ folder: '/etc' }, { folder: '..' }, { folder: '' }])(
    'refuses the folder %j',
    ({ folder }) => {
      const changes = { connection: { type: 'files', folder } } as const;
      store().when(createSecretStore(changes), facts).thenRefuses('validation_failed');
    },
  );

  test.each([
    { address: 'http://vault.example.com' },
    { address: 'https://user@vault.example.com' },
    { address: 'file:///etc/passwd' },
    { mount: '../sys' },
    { mount: '/secret' },
    { namespace: '' },
  ])('refuses the Vault settings %j', (changes) => {
    const created = createSecretStore({ connection: { ...connection, ...changes }, sealed });
    store().when(created, facts).thenRefuses('validation_failed');
  });

  test('can be created for Vault before its credential is set', () => {
    store()
      .when(createSecretStore({ connection }), facts)
      .thenRecords({ type: 'SecretStoreCreated', data: { ...files, connection } });
  });

  test('refuses the name of another secret store', () => {
    const taken = { ...facts, nameTaken: true };
    store().when(createSecretStore(), taken).thenRefuses('already_exists');
    const rename = { type: 'ChangeSecretStore', ...ids, name: 'Other' } as const;
    store(filesCreated).when(rename, taken).thenRefuses('already_exists');
    store(filesCreated)
      .when({ ...rename, name: files.name }, taken)
      .thenRecordsNothing();
  });

  test('refuses a credential for a file store, and an unknown group', () => {
    store().when(createSecretStore({ sealed }), facts).thenRefuses('validation_failed');
    const unknown = { ...facts, missingGroupId: groupId() };
    store().when(createSecretStore(), unknown).thenRefuses('validation_failed');
  });
});

describe('a secret store', () => {
  test.each([
    { address: 'https://other.example.com' },
    { namespace: 'other' },
    { auth: { type: 'app_role', mount: 'approle', roleId: 'role' } as const },
  ])('refuses to keep its credential when the connection changes: %j', (changes) => {
    const moved = {
      type: 'ChangeSecretStore',
      ...ids,
      connection: { ...connection, ...changes },
    } as const;
    store(vaultCreated).when(moved, facts).thenRefuses('validation_failed');
    store(vaultCreated)
      .when({ ...moved, sealed: { ...sealed, nonce: 'other' } }, facts)
      .thenRecords({
        type: 'SecretStoreChanged',
        data: { ...ids, connection: moved.connection, sealed: { ...sealed, nonce: 'other' } },
      });
  });

  test('records only changed settings', () => {
    const change = { type: 'ChangeSecretStore', ...ids, name: files.name } as const;
    store(filesCreated).when(change, facts).thenRecordsNothing();
    store(filesCreated)
      .when({ ...change, groupIds: [groupId()] }, facts)
      .thenRecords({ type: 'SecretStoreChanged', data: { ...ids, groupIds: [groupId()] } });
  });

  test('cannot be deleted while secrets use it', () => {
    const users = ['TOKEN of the script "Report"'];
    store(filesCreated)
      .when(remove, { ...facts, users })
      .thenRefuses('secret_store_in_use');
    store(filesCreated).when(remove, facts).thenRecords({ type: 'SecretStoreDeleted', data: ids });
  });
});
