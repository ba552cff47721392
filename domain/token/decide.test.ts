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

describe('given no token', () => {
  test('when somebody makes one, then it is issued', () => {
    given(tokenAggregate).when(issueToken()).thenRecords(issued);
  });

  test('when it is revoked, then there is none', () => {
    given(tokenAggregate).when(revoke).thenRefuses('not_found');
  });
});

describe('given a token', () => {
  test('when it is issued again, then nothing is recorded', () => {
    given(tokenAggregate, issued).when(issueToken()).thenRecordsNothing();
  });

  test('when it is revoked, then it is, once', () => {
    given(tokenAggregate, issued).when(revoke).thenRecords(revoked);
    given(tokenAggregate, issued, revoked).when(revoke).thenRecordsNothing();
  });

  test('when a revoked one is issued again, then it stays revoked', () => {
    given(tokenAggregate, issued, revoked).when(issueToken()).thenRecordsNothing();
  });
});
