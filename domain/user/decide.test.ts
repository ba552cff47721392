import { given } from '#domain/testing/given.ts';
import { groupId, sessionId, userId } from '#domain/testing/ids.ts';
import { createUser } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import type { ChangeUser } from './commands.ts';
import { userAggregate } from './decide.ts';
import type { UserEvent } from './events.ts';

const alone = { emailTaken: false, otherAdministrator: false };
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

describe('given no account', () => {
  test('when it is created, then it is there', () => {
    given(userAggregate).when(createUser(), alone).thenRecords(created);
  });

  test('when the e-mail address is another account’s, then it is refused', () => {
    const taken = { ...alone, emailTaken: true };
    given(userAggregate).when(createUser(), taken).thenRefuses('already_exists');
  });

  test('when it is to change, then there is none', () => {
    given(userAggregate)
      .when(change({ name: 'Bob' }), alone)
      .thenRefuses('not_found');
  });
});

describe('given an account', () => {
  test('when it is created again, then nothing is recorded: the address is its own', () => {
    const taken = { ...alone, emailTaken: true };
    given(userAggregate, created).when(createUser(), taken).thenRecordsNothing();
  });

  test('when it changes, then what is new is recorded, and nothing twice', () => {
    const changes = { name: data.name, groupIds: [groupId(2)], disabled: true };
    const recorded = changed({ groupIds: [groupId(2)], disabled: true });
    given(userAggregate, created).when(change(changes), alone).thenRecords(recorded);
    given(userAggregate, created, recorded).when(change(changes), alone).thenRecordsNothing();
  });

  test('when it gets a password, then the one before is named no longer', () => {
    const command = { userId: userId(), credentialId: 'another', keptSessionId: sessionId() };
    const event: UserEvent = { type: 'UserPasswordChanged', data: command };
    const ask = { type: 'ChangeUserPassword', ...command } as const;
    given(userAggregate, created).when(ask, alone).thenRecords(event);
    given(userAggregate, created, event).when(ask, alone).thenRecordsNothing();
  });
});

describe('given a group that is gone', () => {
  test('when somebody of it leaves, then they belong to their other groups', () => {
    const both = { ...created, data: { ...data, groupIds: [groupId(1), groupId(2)] } };
    const left = changed({ groupIds: [groupId(1)] });
    const leave = { type: 'LeaveGroup', userId: userId(), groupId: groupId(2) } as const;
    given(userAggregate, both).when(leave, alone).thenRecords(left);
    given(userAggregate, both, left).when(leave, alone).thenRecordsNothing();
  });
});

describe('given the last administrator', () => {
  test.each([{ role: 'developer' }, { disabled: true }] as const)(
    'when %o would end that, then it is refused',
    (changes) => {
      given(userAggregate, boss).when(change(changes), alone).thenRefuses('last_administrator');
      const others = { ...alone, otherAdministrator: true };
      given(userAggregate, boss).when(change(changes), others).thenRecords(changed(changes));
    },
  );

  test('when something else changes, then it is recorded', () => {
    const changes = { name: 'Bob' };
    given(userAggregate, boss).when(change(changes), alone).thenRecords(changed(changes));
  });
});
