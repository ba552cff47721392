import { given } from '#domain/testing/given.ts';
import { groupId, identityProviderId } from '#domain/testing/ids.ts';
import { createIdentityProvider } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { identityProviderAggregate } from './decide.ts';
import type { IdentityProviderEvent } from './events.ts';

const usable = { keyExists: true, missingGroupId: undefined };
const { type: _, ...data } = createIdentityProvider();
const created: IdentityProviderEvent = { type: 'IdentityProviderCreated', data };
const ids = { identityProviderId: identityProviderId() };
const deleted: IdentityProviderEvent = { type: 'IdentityProviderDeleted', data: ids };

describe('an identity provider that does not exist yet', () => {
  test('can be created', () => {
    given(identityProviderAggregate).when(createIdentityProvider(), usable).thenRecords(created);
  });

  test.each(['ftp://id.example.com', 'http://id.example.com', 'id', 'https://id.example.com/?a=1'])(
    'refuses the issuer %s',
    (issuer) => {
      given(identityProviderAggregate)
        .when(createIdentityProvider({ issuer }), usable)
        .thenRefuses('validation_failed');
    },
  );

  test('refuses rules that refer to an unknown group', () => {
    given(identityProviderAggregate)
      .when(createIdentityProvider(), { ...usable, missingGroupId: groupId() })
      .thenRefuses('validation_failed');
  });
});

describe('an existing identity provider', () => {
  test('is the only provider that can use its slug', () => {
    given(identityProviderAggregate, created)
      .when(createIdentityProvider({ name: 'Other' }), usable)
      .thenRefuses('already_exists');
  });

  test('records only changed settings', () => {
    given(identityProviderAggregate, created)
      .when({ type: 'ChangeIdentityProvider', ...ids, name: 'Acme', enabled: false }, usable)
      .thenRecords({ type: 'IdentityProviderChanged', data: { ...ids, enabled: false } });
  });

  test('refuses a change based on an outdated version', () => {
    given(identityProviderAggregate, created)
      .when({ type: 'ChangeIdentityProvider', ...ids, enabled: false, expectedVersion: 7 }, usable)
      .thenRefuses('version_mismatch');
  });

  test('records only one deletion', () => {
    const remove = { type: 'DeleteIdentityProvider', ...ids } as const;
    given(identityProviderAggregate, created).when(remove, usable).thenRecords(deleted);
    given(identityProviderAggregate, created, deleted).when(remove, usable).thenRecords();
  });

  test('can be created again after it was deleted', () => {
    given(identityProviderAggregate, created, deleted)
      .when(createIdentityProvider(), usable)
      .thenRecords(created);
  });
});
