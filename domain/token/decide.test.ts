import { given } from '#domain/testing/given.ts';
import { tokenId } from '#domain/testing/ids.ts';
import { issueToken } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { tokenAggregate } from './decide.ts';
import type { TokenEvent } from './events.ts';

const { type: _, ...data } = issueToken();
const issued: TokenEvent = { type: 'TokenIssued', data };
const revoke = { type: 'RevokeToken', tokenId: tokenId() } as const;
const revoked: TokenEvent = { type: 'TokenRevoked', data: { tokenId: tokenId() } };

describe('a token that does not exist yet', () => {
  test('can be issued', () => {
    given(tokenAggregate).when(issueToken()).thenRecords(issued);
  });

  test('cannot be revoked', () => {
    given(tokenAggregate).when(revoke).thenRefuses('not_found');
  });
});

describe('an issued token', () => {
  test('records nothing when issued again', () => {
    given(tokenAggregate, issued).when(issueToken()).thenRecordsNothing();
  });

  test('records only one revocation', () => {
    given(tokenAggregate, issued).when(revoke).thenRecords(revoked);
    given(tokenAggregate, issued, revoked).when(revoke).thenRecordsNothing();
  });

  test('stays revoked when issued again', () => {
    given(tokenAggregate, issued, revoked).when(issueToken()).thenRecordsNothing();
  });
});
