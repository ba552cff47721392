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

describe('a webhook that does not exist yet', () => {
  test('can be created for a script', () => {
    given(webhookAggregate).when(createWebhook(), facts).thenRecords(created);
  });

  test('can be created with required signatures', () => {
    const command = createWebhook({ signing: webhookSigning() });
    given(webhookAggregate).when(command, facts).thenRecords(created, signed());
    const keyless = { ...facts, keyExists: false };
    given(webhookAggregate).when(command, keyless).thenRefuses('version_mismatch');
  });

  test('cannot be created if the script does not exist', () => {
    const none = { ...facts, scriptExists: false };
    given(webhookAggregate).when(createWebhook(), none).thenRefuses('not_found');
  });

  test.each([change, rotate, remove])('refuses %j with not_found', (command) => {
    given(webhookAggregate).when(command, facts).thenRefuses('not_found');
  });
});

describe('an existing webhook', () => {
  const webhook = given(webhookAggregate, created);

  test('records a repeated settings change only once', () => {
    webhook.when(change, facts).thenRecords(changed);
    given(webhookAggregate, created, changed).when(change, facts).thenRecordsNothing();
  });

  test('can replace its token', () => {
    webhook.when(rotate, facts).thenRecords(rotated);
    given(webhookAggregate, created, rotated).when(rotate, facts).thenRecordsNothing();
  });

  test('can be deleted only once, and refuses later changes', () => {
    webhook.when(remove, facts).thenRecords(deleted);
    const gone = given(webhookAggregate, created, deleted);
    gone.when(remove, facts).thenRecordsNothing();
    gone.when(rotate, facts).thenRefuses('not_found');
    gone.when(createWebhook(), facts).thenRecordsNothing();
  });
});

describe('a webhook with signed requests', () => {
  const webhook = given(webhookAggregate, created, signed());

  test('accepts a new signing secret together with other settings', () => {
    const command = { ...change, signing: webhookSigning(2) };
    webhook.when(command, facts).thenRecords(changed, signed(2));
  });

  test('refuses a secret with an outdated version, or a secret whose data key was destroyed', () => {
    const again = { ...change, signing: webhookSigning(1) };
    webhook.when(again, facts).thenRefuses('version_mismatch');
    const keyless = { ...facts, keyExists: false };
    const command = { ...change, signing: webhookSigning(2) };
    webhook.when(command, keyless).thenRefuses('version_mismatch');
  });

  test('can stop requiring signatures, and never reuses the version of a secret', () => {
    const end = { ...change, changes: {}, signing: null };
    webhook.when(end, facts).thenRecords(signingEnded);
    const ended = given(webhookAggregate, created, signed(), signingEnded);
    ended.when(end, facts).thenRecordsNothing();
    const signedAgain = { ...change, changes: {}, signing: webhookSigning(2) };
    ended.when(signedAgain, facts).thenRecords(signed(2));
  });
});
