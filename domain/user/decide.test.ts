import { given } from '#domain/testing/given.ts';
import { createUser } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { userAggregate } from './decide.ts';
import type { UserEvent } from './events.ts';

const { type: _, ...data } = createUser();
const created: UserEvent = { type: 'UserCreated', data };

describe('given no account', () => {
  test('when it is created, then it is there', () => {
    given(userAggregate).when(createUser(), { emailTaken: false }).thenRecords(created);
  });

  test('when the e-mail address is another account’s, then it is refused', () => {
    given(userAggregate).when(createUser(), { emailTaken: true }).thenRefuses('already_exists');
  });
});

describe('given an account', () => {
  test('when it is created again, then nothing is recorded: the address is its own', () => {
    given(userAggregate, created).when(createUser(), { emailTaken: true }).thenRecordsNothing();
  });
});
