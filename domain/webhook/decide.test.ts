import { given } from '#domain/testing/given.ts';
import { webhookId } from '#domain/testing/ids.ts';
import { createWebhook } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { webhookAggregate } from './decide.ts';
import type { WebhookEvent } from './events.ts';

const { type: _, ...data } = createWebhook();
const created: WebhookEvent = { type: 'WebhookCreated', data };
const id = { webhookId: webhookId() };
const change = { type: 'ChangeWebhook', ...id, changes: { name: 'push', enabled: false } } as const;
const changed: WebhookEvent = { type: 'WebhookChanged', data: { ...id, enabled: false } };
const rotate = { type: 'RotateWebhook', ...id, tokenHash: 'b'.repeat(64) } as const;
const rotated: WebhookEvent = {
  type: 'WebhookRotated',
  data: { ...id, tokenHash: 'b'.repeat(64) },
};
const remove = { type: 'DeleteWebhook', ...id } as const;
const deleted: WebhookEvent = { type: 'WebhookDeleted', data: id };

describe('given no webhook', () => {
  test('when one is made for a script, then it is there', () => {
    given(webhookAggregate).when(createWebhook(), { scriptExists: true }).thenRecords(created);
  });

  test('when the script is not there, then it is refused', () => {
    given(webhookAggregate).when(createWebhook(), { scriptExists: false }).thenRefuses('not_found');
  });

  test.each([change, rotate, remove])('when it gets %j, then there is none', (command) => {
    given(webhookAggregate).when(command).thenRefuses('not_found');
  });
});

describe('given a webhook', () => {
  const webhook = given(webhookAggregate, created);

  test('when it is changed, then what differs is recorded, once', () => {
    webhook.when(change).thenRecords(changed);
    given(webhookAggregate, created, changed).when(change).thenRecordsNothing();
  });

  test('when it gets another token, then that counts', () => {
    webhook.when(rotate).thenRecords(rotated);
    given(webhookAggregate, created, rotated).when(rotate).thenRecordsNothing();
  });

  test('when it is deleted, then it is gone for good', () => {
    webhook.when(remove).thenRecords(deleted);
    given(webhookAggregate, created, deleted).when(remove).thenRecordsNothing();
    given(webhookAggregate, created, deleted).when(rotate).thenRefuses('not_found');
    const again = given(webhookAggregate, created, deleted);
    again.when(createWebhook(), { scriptExists: true }).thenRecordsNothing();
  });
});
