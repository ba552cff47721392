import { given } from '#domain/testing/given.ts';
import { groupId, identityProviderId, sessionId, userId } from '#domain/testing/ids.ts';
import { createUser, sealed } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import type { ChangeUser } from './commands.ts';
import { userAggregate } from './decide.ts';
import type { UserEvent } from './events.ts';

const alone = {
  emailTaken: false,
  otherAdministrator: false,
  identityTaken: false,
  keyExists: true,
};
const { type: _, ...data } = createUser();
const created: UserEvent = { type: 'UserCreated', data };
const boss: UserEvent = { type: 'UserCreated', data: { ...data, role: 'administrator' } };
const change = (changes: ChangeUser['changes']): ChangeUser => ({
  type: 'ChangeUser',
  userId: userId(),
  changes,
});
const changed = (changes: ChangeUser['changes']): UserEvent => ({
  type: 'UserChanged',
  data: { userId: userId(), ...changes },
});

describe('an account that does not exist yet', () => {
  test('can be created', () => {
    given(userAggregate).when(createUser(), alone).thenRecords(created);
  });

  test('cannot be created if another account has the email address', () => {
    const taken = { ...alone, emailTaken: true };
    given(userAggregate).when(createUser(), taken).thenRefuses('already_exists');
  });

  test('refuses changes with not_found', () => {
    given(userAggregate)
      .when(change({ name: 'Bob' }), alone)
      .thenRefuses('not_found');
  });
});

describe('an existing account', () => {
  test('records nothing when created again, even if its email address is taken', () => {
    const taken = { ...alone, emailTaken: true };
    given(userAggregate, created).when(createUser(), taken).thenRecordsNothing();
  });

  test('records a repeated settings change only once', () => {
    const changes = { name: data.name, groupIds: [groupId(2)], disabled: true };
    const recorded = changed({ groupIds: [groupId(2)], disabled: true });
    given(userAggregate, created).when(change(changes), alone).thenRecords(recorded);
    given(userAggregate, created, recorded).when(change(changes), alone).thenRecordsNothing();
  });

  test('accepts a new password, which replaces the previous one', () => {
    const command = { userId: userId(), credentialId: 'another', keptSessionId: sessionId() };
    const event: UserEvent = { type: 'UserPasswordChanged', data: command };
    const ask = { type: 'ChangeUserPassword', ...command } as const;
    given(userAggregate, created).when(ask, alone).thenRecords(event);
    given(userAggregate, created, event).when(ask, alone).thenRecordsNothing();
  });
});

describe('the membership in a deleted group', () => {
  test('is removed without affecting other memberships', () => {
    const both = { ...created, data: { ...data, groupIds: [groupId(1), groupId(2)] } };
    const left = changed({ groupIds: [groupId(1)] });
    const leave = { type: 'LeaveGroup', userId: userId(), groupId: groupId(2) } as const;
    given(userAggregate, both).when(leave, alone).thenRecords(left);
    given(userAggregate, both, left).when(leave, alone).thenRecordsNothing();
  });
});

describe('the last administrator', () => {
  test.each([{ role: 'developer' }, { disabled: true }] as const)(
    'refuses the change %o',
    (changes) => {
      given(userAggregate, boss).when(change(changes), alone).thenRefuses('last_administrator');
      const others = { ...alone, otherAdministrator: true };
      given(userAggregate, boss).when(change(changes), others).thenRecords(changed(changes));
    },
  );

  test('accepts other changes', () => {
    const changes = { name: 'Bob' };
    given(userAggregate, boss).when(change(changes), alone).thenRecords(changed(changes));
  });
});

describe('an identity', () => {
  const identity = {
    identityProviderId: identityProviderId(),
    issuer: 'https://id.example.com',
    subject: 'ada',
  };
  const link = { type: 'LinkIdentity', userId: userId(), ...identity } as const;
  const linked: UserEvent = {
    type: 'UserIdentityLinked',
    data: { userId: userId(), ...identity },
  };
  const ids = { userId: userId(), identityProviderId: identityProviderId() };
  const unlink = { type: 'UnlinkIdentity', ...ids } as const;

  test('is linked to an account only once', () => {
    given(userAggregate, created).when(link, alone).thenRecords(linked);
    given(userAggregate, created, linked).when(link, alone).thenRecords();
  });

  test('replaces an earlier identity from the same provider', () => {
    const other = { ...link, subject: 'lovelace' };
    const { type: _type, ...data } = other;
    given(userAggregate, created, linked)
      .when(other, alone)
      .thenRecords({ type: 'UserIdentityLinked', data });
  });

  test('cannot belong to two accounts', () => {
    const taken = { ...alone, identityTaken: true };
    given(userAggregate, created).when(link, taken).thenRefuses('already_exists');
    given(userAggregate).when(createUser({ identity }), taken).thenRefuses('already_exists');
  });

  test('is unlinked from an account only once', () => {
    const unlinked: UserEvent = { type: 'UserIdentityUnlinked', data: ids };
    given(userAggregate, created, linked).when(unlink, alone).thenRecords(unlinked);
    given(userAggregate, created).when(unlink, alone).thenRecords();
  });
});

describe('a second factor', () => {
  const factor = { userId: userId(), sealed, recoveryHashes: ['aa', 'bb'] };
  const enable = { type: 'EnableSecondFactor', ...factor } as const;
  const enabled: UserEvent = { type: 'SecondFactorEnabled', data: factor };
  const disable = { type: 'DisableSecondFactor', userId: userId() } as const;
  const disabled: UserEvent = { type: 'SecondFactorDisabled', data: { userId: userId() } };
  const use = { type: 'UseRecoveryCode', userId: userId(), recoveryHash: 'aa' } as const;
  const used: UserEvent = {
    type: 'RecoveryCodeUsed',
    data: { userId: userId(), recoveryHash: 'aa' },
  };
  const hashes = { userId: userId(), recoveryHashes: ['cc'] };
  const replace = { type: 'ReplaceRecoveryCodes', ...hashes } as const;
  const replaced: UserEvent = { type: 'RecoveryCodesReplaced', data: hashes };

  test('is enabled only once, and only if its data key still exists', () => {
    given(userAggregate, created).when(enable, alone).thenRecords(enabled);
    given(userAggregate, created, enabled).when(enable, alone).thenRefuses('already_exists');
    given(userAggregate, created)
      .when(enable, { ...alone, keyExists: false })
      .thenRefuses('version_mismatch');
  });

  test('is disabled only once, and can be enabled again', () => {
    given(userAggregate, created, enabled).when(disable, alone).thenRecords(disabled);
    given(userAggregate, created).when(disable, alone).thenRecords();
    given(userAggregate, created, enabled, disabled).when(enable, alone).thenRecords(enabled);
  });

  test('accepts each recovery code only once', () => {
    given(userAggregate, created, enabled).when(use, alone).thenRecords(used);
    given(userAggregate, created, enabled, used).when(use, alone).thenRefuses('not_found');
    given(userAggregate, created).when(use, alone).thenRefuses('not_found');
  });

  test('refuses recovery codes that were replaced', () => {
    given(userAggregate, created, enabled).when(replace, alone).thenRecords(replaced);
    given(userAggregate, created, enabled, replaced).when(use, alone).thenRefuses('not_found');
    given(userAggregate, created).when(replace, alone).thenRefuses('not_found');
  });
});

describe('a passkey', () => {
  const passkey = {
    userId: userId(),
    passkeyId: 'p1',
    name: 'Laptop',
    webauthnId: 'w1',
    publicKey: 'key',
    counter: 5,
    transports: ['internal'],
  };
  const add = { type: 'AddPasskey', ...passkey, recoveryHashes: ['aa'] } as const;
  const added: UserEvent = { type: 'PasskeyAdded', data: { ...passkey, recoveryHashes: ['aa'] } };
  const second = { ...add, passkeyId: 'p2', webauthnId: 'w2' };
  const ids = { userId: userId(), passkeyId: 'p1' };
  const remove = { type: 'RemovePasskey', ...ids } as const;
  const removed: UserEvent = { type: 'PasskeyRemoved', data: ids };
  const rename = (name: string) => ({ type: 'RenamePasskey', ...ids, name }) as const;
  const renamed: UserEvent = { type: 'PasskeyRenamed', data: { ...ids, name: 'Phone' } };
  const use = (counter: number) => ({ type: 'UsePasskey', ...ids, counter }) as const;
  const used = (counter: number): UserEvent => ({ type: 'PasskeyUsed', data: { ...ids, counter } });

  test('is added only once, and each authenticator can be added only once', () => {
    given(userAggregate, created).when(add, alone).thenRecords(added);
    given(userAggregate, created, added).when(add, alone).thenRecordsNothing();
    const again = { ...add, passkeyId: 'p2' };
    given(userAggregate, created, added).when(again, alone).thenRefuses('already_exists');
  });

  test('requires recovery codes if and only if it is the first second factor', () => {
    const without = { ...add, recoveryHashes: [] };
    given(userAggregate, created).when(without, alone).thenRefuses('version_mismatch');
    given(userAggregate, created, added).when(second, alone).thenRefuses('version_mismatch');
  });

  test('is refused if its counter does not increase, and the refusal is recorded', () => {
    given(userAggregate, created, added).when(use(6), alone).thenRecords(used(6));
    for (const counter of [5, 4, 0]) {
      const refused: UserEvent = { type: 'PasskeyUseRefused', data: { ...ids, counter } };
      given(userAggregate, created, added).when(use(counter), alone).thenRecords(refused);
    }
  });

  test('can be used repeatedly if it has no counter', () => {
    const data = { ...passkey, counter: 0, recoveryHashes: ['aa'] };
    const uncounted: UserEvent = { type: 'PasskeyAdded', data };
    given(userAggregate, created, uncounted, used(0)).when(use(0), alone).thenRecords(used(0));
  });

  test('is removed only once, and is removed when the second factor is disabled', () => {
    given(userAggregate, created, added).when(remove, alone).thenRecords(removed);
    given(userAggregate, created, added, removed).when(remove, alone).thenRecordsNothing();
    const disabled: UserEvent = { type: 'SecondFactorDisabled', data: { userId: userId() } };
    given(userAggregate, created, added, disabled).when(use(6), alone).thenRefuses('not_found');
  });

  test('requires new recovery codes after the last second factor was removed', () => {
    const again = { ...second, recoveryHashes: ['bb'] };
    const { type: _, ...data } = again;
    given(userAggregate, created, added, removed)
      .when(again, alone)
      .thenRecords({ type: 'PasskeyAdded', data });
  });

  test('can be renamed', () => {
    given(userAggregate, created, added).when(rename('Phone'), alone).thenRecords(renamed);
    given(userAggregate, created, added, renamed).when(rename('Phone'), alone).thenRecordsNothing();
    given(userAggregate, created, added).when(rename(' '), alone).thenRefuses('validation_failed');
    given(userAggregate, created).when(rename('Phone'), alone).thenRefuses('not_found');
  });

  test('is refused if the account already has 20 passkeys', () => {
    const others = Array.from({ length: 19 }, (_, index): UserEvent => {
      const ofOther = { passkeyId: `q${index}`, webauthnId: `v${index}` };
      return { type: 'PasskeyAdded', data: { ...passkey, ...ofOther, recoveryHashes: [] } };
    });
    const further = { ...second, recoveryHashes: [] };
    given(userAggregate, created, added, ...others)
      .when(further, alone)
      .thenRefuses('validation_failed');
  });
});
