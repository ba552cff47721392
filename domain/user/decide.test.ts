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

describe('an unknown account', () => {
  test('is created', () => {
    given(userAggregate).when(createUser(), alone).thenRecords(created);
  });

  test('is refused if another account has the e-mail address', () => {
    const taken = { ...alone, emailTaken: true };
    given(userAggregate).when(createUser(), taken).thenRefuses('already_exists');
  });

  test('refuses changes as unknown', () => {
    given(userAggregate)
      .when(change({ name: 'Bob' }), alone)
      .thenRefuses('not_found');
  });
});

describe('an existing account', () => {
  test('is not recorded again when created again, although its address is taken', () => {
    const taken = { ...alone, emailTaken: true };
    given(userAggregate, created).when(createUser(), taken).thenRecordsNothing();
  });

  test('records each changed setting once', () => {
    const changes = { name: data.name, groupIds: [groupId(2)], disabled: true };
    const recorded = changed({ groupIds: [groupId(2)], disabled: true });
    given(userAggregate, created).when(change(changes), alone).thenRecords(recorded);
    given(userAggregate, created, recorded).when(change(changes), alone).thenRecordsNothing();
  });

  test('replaces the previous password', () => {
    const command = { userId: userId(), credentialId: 'another', keptSessionId: sessionId() };
    const event: UserEvent = { type: 'UserPasswordChanged', data: command };
    const ask = { type: 'ChangeUserPassword', ...command } as const;
    given(userAggregate, created).when(ask, alone).thenRecords(event);
    given(userAggregate, created, event).when(ask, alone).thenRecordsNothing();
  });
});

describe('a deleted group', () => {
  test('loses its members, who keep their other groups', () => {
    const both = { ...created, data: { ...data, groupIds: [groupId(1), groupId(2)] } };
    const left = changed({ groupIds: [groupId(1)] });
    const leave = { type: 'LeaveGroup', userId: userId(), groupId: groupId(2) } as const;
    given(userAggregate, both).when(leave, alone).thenRecords(left);
    given(userAggregate, both, left).when(leave, alone).thenRecordsNothing();
  });
});

describe('the last administrator', () => {
  test.each([{ role: 'developer' }, { disabled: true }] as const)('refuses %o', (changes) => {
    given(userAggregate, boss).when(change(changes), alone).thenRefuses('last_administrator');
    const others = { ...alone, otherAdministrator: true };
    given(userAggregate, boss).when(change(changes), others).thenRecords(changed(changes));
  });

  test('accepts other changes', () => {
    const changes = { name: 'Bob' };
    given(userAggregate, boss).when(change(changes), alone).thenRecords(changed(changes));
  });
});
