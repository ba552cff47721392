import { given } from '#domain/testing/given.ts';
import { webhookId } from '#domain/testing/ids.ts';
import { createWebhook, webhookSigning } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import type { ChangeWebhook } from './commands.ts';
import { webhookAggregate } from './decide.ts';
import type { WebhookEvent } from './events.ts';

const { type: _, ...data } = createWebhook();
const created: WebhookEvent = { type: 'WebhookCreated', data };
const id = { webhookId: webhookId() };
const change: ChangeWebhook = {
  type: 'ChangeWebhook',
  ...id,
  changes: { name: 'push', enabled: false },
};
const changed: WebhookEvent = { type: 'WebhookChanged', data: { ...id, enabled: false } };
const rotate = { type: 'RotateWebhook', ...id, tokenHash: 'b'.repeat(64) } as const;
const rotated: WebhookEvent = {
  type: 'WebhookRotated',
  data: { ...id, tokenHash: 'b'.repeat(64) },
};
const remove = { type: 'DeleteWebhook', ...id } as const;
const deleted: WebhookEvent = { type: 'WebhookDeleted', data: id };
const signed = (version = 1): WebhookEvent => ({
  type: 'WebhookSigningSet',
  data: { ...id, ...webhookSigning(version) },
});
const signingEnded: WebhookEvent = { type: 'WebhookSigningEnded', data: id };
const facts = { scriptExists: true, keyExists: true };

describe('given no webhook', () => {
  test('when one is made for a script, then it is there', () => {
    given(webhookAggregate).when(createWebhook(), facts).thenRecords(created);
  });

  test('when its calls are to be signed, then they are from the beginning', () => {
    const command = createWebhook({ signing: webhookSigning() });
    given(webhookAggregate).when(command, facts).thenRecords(created, signed());
    const keyless = { ...facts, keyExists: false };
    given(webhookAggregate).when(command, keyless).thenRefuses('version_mismatch');
  });

  test('when the script is not there, then it is refused', () => {
    const none = { ...facts, scriptExists: false };
    given(webhookAggregate).when(createWebhook(), none).thenRefuses('not_found');
  });

  test.each([change, rotate, remove])('when it gets %j, then there is none', (command) => {
    given(webhookAggregate).when(command, facts).thenRefuses('not_found');
  });
});

describe('given a webhook', () => {
  const webhook = given(webhookAggregate, created);

  test('when it is changed, then what differs is recorded, once', () => {
    webhook.when(change, facts).thenRecords(changed);
    given(webhookAggregate, created, changed).when(change, facts).thenRecordsNothing();
  });

  test('when it gets another token, then that counts', () => {
    webhook.when(rotate, facts).thenRecords(rotated);
    given(webhookAggregate, created, rotated).when(rotate, facts).thenRecordsNothing();
  });

  test('when it is deleted, then it is gone for good', () => {
    webhook.when(remove, facts).thenRecords(deleted);
    const gone = given(webhookAggregate, created, deleted);
    gone.when(remove, facts).thenRecordsNothing();
    gone.when(rotate, facts).thenRefuses('not_found');
    gone.when(createWebhook(), facts).thenRecordsNothing();
  });
});

describe('given a webhook whose calls are signed', () => {
  const webhook = given(webhookAggregate, created, signed());

  test('when it gets another secret with other settings, then both count', () => {
    const command = { ...change, signing: webhookSigning(2) };
    webhook.when(command, facts).thenRecords(changed, signed(2));
  });

  test('when somebody else was first, or the key is gone, then the secret is refused', () => {
    const again = { ...change, signing: webhookSigning(1) };
    webhook.when(again, facts).thenRefuses('version_mismatch');
    const keyless = { ...facts, keyExists: false };
    const command = { ...change, signing: webhookSigning(2) };
    webhook.when(command, keyless).thenRefuses('version_mismatch');
  });

  test('when calls are to be signed no more, then that is so, and secrets go on counting', () => {
    const end = { ...change, changes: {}, signing: null };
    webhook.when(end, facts).thenRecords(signingEnded);
    const ended = given(webhookAggregate, created, signed(), signingEnded);
    ended.when(end, facts).thenRecordsNothing();
    const anew = { ...change, changes: {}, signing: webhookSigning(2) };
    ended.when(anew, facts).thenRecords(signed(2));
  });
});
