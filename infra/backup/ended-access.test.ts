/** An in-place restore does not reinstate access that was revoked after the backup. */
import type { Command } from '#domain/aggregates.ts';
import {
  backupId,
  commandId,
  identityProviderId,
  scriptId,
  sessionId,
  tokenId,
  userId,
  webhookId,
} from '#domain/testing/ids.ts';
import {
  createIdentityProvider,
  createUser,
  createWebhook,
  issueToken,
  webhookSigning,
} from '#domain/testing/samples.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RestoreReport } from './restore.ts';
import { backUp, openSample, sampleBackup, type Sample } from './testing/sample.ts';
import { storedBackup } from './files.ts';
import { openTarget, rowsOf, type Target } from './testing/target.ts';

const [later, bob] = [backupId(2), userId(2)];

let sample: Sample;
let target: Target;
let own: Database;
beforeEach(async () => {
  sample = await openSample();
  target = await openTarget(sample);
  own = openDatabase(sample.platform.adminUrl, {
    connections: 2,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  const { accepted } = sample.platform;
  await password(commandId(), 'first');
  await accepted(createUser({ userId: bob, email: 'bob@example.com' }));
  for (const number of [1, 2]) {
    await accepted(issueToken({ tokenId: tokenId(number), tokenHash: `${number}`.repeat(64) }));
    await open(number, number === 1 ? userId() : bob);
  }
});
afterEach(async () => {
  await own.close();
  await target.close();
  await sample.close();
});

async function password(id: string, hash: string): Promise<void> {
  const insert = 'INSERT INTO credentials (credential_id, password_hash) VALUES ($1, $2)';
  await sample.platform.pool.query(insert, [id, hash]);
}

async function open(number: number, user: ReturnType<typeof userId>): Promise<void> {
  await sample.platform.accepted({
    type: 'OpenSession',
    sessionId: sessionId(number),
    userId: user,
    accountVersion: 1,
    userAgent: null,
  });
}

async function change(user: ReturnType<typeof userId>, disabled: boolean): Promise<void> {
  await sample.platform.accepted({ type: 'ChangeUser', userId: user, changes: { disabled } });
}

async function changePassword(): Promise<void> {
  await password(commandId(2), 'second');
  await sample.platform.accepted({
    type: 'ChangeUserPassword',
    userId: userId(),
    credentialId: commandId(2),
  });
}

/** Restores in place, that is, into the sample's own database. */
async function restore(changes = {}, id = sampleBackup): Promise<RestoreReport> {
  const source = await storedBackup(sample.objects, id);
  if (source === undefined) throw new Error('there is no backup');
  const { pool } = own;
  return await target.restore({ pool, source, replace: true, ...changes });
}

const revoked = () =>
  rowsOf(own.pool, 'SELECT token_id FROM api_tokens WHERE revoked_at IS NOT NULL');
const hashes = () =>
  rowsOf(
    own.pool,
    'SELECT email, disabled, password_hash FROM users LEFT JOIN credentials USING (credential_id)',
  );
const counted = ({ ended }: RestoreReport) => ended.map(({ type }) => type).toSorted();

describe('an in-place restore of a backup with an identity provider', () => {
  const identity = {
    identityProviderId: identityProviderId(),
    issuer: 'https://id.example.com',
    subject: 'bob',
  };
  const rules = [
    { claim: 'groups', value: 'ops', role: 'operator', groupIds: [], canAudit: false },
  ] as const;
  beforeEach(async () => {
    await sample.platform.accepted(createIdentityProvider());
    await sample.platform.accepted({ type: 'LinkIdentity', userId: bob, ...identity });
    await backUp(sample);
  });
  const left = async () => ({
    enabled: await rowsOf(
      own.pool,
      `SELECT settings -> 'enabled' AS enabled FROM identity_providers`,
    ),
    linked: await rowsOf(own.pool, `SELECT email FROM users WHERE identities <> '[]'`),
  });

  test('keeps the provider and the identity if they did not change after the backup', async () => {
    await restore();
    expect(await left()).toEqual({
      enabled: [{ enabled: true }],
      linked: [{ email: 'bob@example.com' }],
    });
  });

  test.each<readonly [string, Command]>([
    ['deleted', { type: 'DeleteIdentityProvider', identityProviderId: identityProviderId() }],
    [
      'given different rules',
      { type: 'ChangeIdentityProvider', identityProviderId: identityProviderId(), rules },
    ],
  ])('disables a provider that was %s after the backup', async (_name, command) => {
    await sample.platform.accepted(command);
    await restore();
    expect((await left()).enabled).toEqual([{ enabled: false }]);
  });

  test('does not restore an identity that was unlinked after the backup', async () => {
    const ids = { userId: bob, identityProviderId: identityProviderId() };
    await sample.platform.accepted({ type: 'UnlinkIdentity', ...ids });
    await restore();
    expect((await left()).linked).toEqual([]);
  });
});

describe('an in-place restore', () => {
  beforeEach(async () => {
    const { accepted } = sample.platform;
    await backUp(sample);
    await accepted({ type: 'RevokeToken', tokenId: tokenId(1) });
    await accepted({ type: 'CloseSession', sessionId: sessionId(1), reason: 'logout' });
    await change(bob, true);
    await changePassword();
  });

  test('keeps tokens revoked, sessions ended, accounts disabled and passwords changed', async () => {
    const report = await restore();
    expect(counted(report)).toEqual([
      'SessionClosed',
      'SessionClosed',
      'TokenRevoked',
      'UserChanged',
      'UserPasswordChanged',
    ]);
    expect(report).toMatchObject({
      isInPlace: true,
      active: { accounts: 1, tokens: 1, sessions: 0 },
    });
    expect(await revoked()).toEqual([{ token_id: tokenId(1) }]);
    expect(await hashes()).toEqual([
      { email: 'ada@example.com', disabled: false, password_hash: 'second' },
      { email: 'bob@example.com', disabled: true, password_hash: 'first' },
    ]);
    const again = await restore();
    expect([again.active, counted(again)]).toEqual([report.active, counted(report)]);
  });

  test('reinstates all access if the administrator requests it', async () => {
    expect(await restore({ revive: true })).toMatchObject({
      active: { accounts: 2, tokens: 2, sessions: 2 },
      ended: [],
    });
    expect(await revoked()).toEqual([]);
    expect(await hashes()).toMatchObject([
      { disabled: false, password_hash: 'first' },
      { disabled: false, password_hash: 'first' },
    ]);
  });

  test('reports which access a restore to another location would reinstate', async () => {
    expect(await target.restore({ replace: false })).toMatchObject({
      isInPlace: false,
      active: { accounts: 2, tokens: 2, sessions: 2 },
      ended: [],
    });
  });
});

test('an in-place restore does not reopen sessions whose account was disabled and enabled again', async () => {
  await backUp(sample);
  await change(bob, true);
  await change(bob, false);
  expect(await restore()).toMatchObject({ active: { accounts: 2, sessions: 1 } });
});

describe('webhooks after an in-place restore', () => {
  const webhooks = () => rowsOf(own.pool, 'SELECT token_hash, enabled FROM webhooks ORDER BY 1');
  const [old, replaced] = ['a'.repeat(64), 'b'.repeat(64)];
  const webhook = webhookId(8);
  const { version, sealed } = webhookSigning();
  // Uses an existing data key of the sample.
  const signing = { version, sealed: { ...sealed, keyId: scriptId() } };
  beforeEach(async () => {
    await sample.platform.accepted(createWebhook({ webhookId: webhook, tokenHash: old }));
    await backUp(sample);
  });

  test('keep a token that replaced another one after the backup', async () => {
    await sample.platform.accepted({
      type: 'RotateWebhook',
      webhookId: webhook,
      tokenHash: replaced,
    });
    for (const time of ['once', 'again']) {
      expect([time, counted(await restore())]).toEqual([time, ['WebhookRotated']]);
      expect(await webhooks()).toEqual([{ token_hash: replaced, enabled: true }]);
    }
    expect(counted(await restore({ revive: true }))).toEqual([]);
    expect(await webhooks()).toEqual([{ token_hash: old, enabled: true }]);
  });

  test.each<[string, Command]>([
    ['deleted', { type: 'DeleteWebhook', webhookId: webhook }],
    ['disabled', { type: 'ChangeWebhook', webhookId: webhook, changes: { enabled: false } }],
    [
      'given another signing secret',
      { type: 'ChangeWebhook', webhookId: webhook, changes: {}, signing },
    ],
    ['deleted with their script', { type: 'DeleteScript', scriptId: scriptId() }],
  ])('are restored as disabled if they were %s after the backup', async (_, command) => {
    await sample.platform.accepted(command);
    for (const time of ['once', 'again']) {
      expect([time, counted(await restore())]).toEqual([time, ['WebhookChanged']]);
      expect(await webhooks()).toEqual([{ token_hash: old, enabled: false }]);
    }
  });
});

describe('restoring a newer backup after an older one', () => {
  test('does not reinstate access that was revoked after both backups', async () => {
    const { accepted } = sample.platform;
    await backUp(sample);
    await accepted(issueToken({ tokenId: tokenId(3), tokenHash: '3'.repeat(64) }));
    await backUp(sample, undefined, later);
    await accepted({ type: 'RevokeToken', tokenId: tokenId(3) });
    await restore();
    await restore({}, later);
    expect(await revoked()).toEqual([{ token_id: tokenId(3) }]);
  });

  test('does not reinstate revoked webhooks that only the newer backup contains', async () => {
    const { accepted } = sample.platform;
    const [deleted, rotated, disabled] = [webhookId(5), webhookId(6), webhookId(7)];
    await backUp(sample);
    for (const [index, webhook] of [deleted, rotated, disabled].entries()) {
      await accepted(createWebhook({ webhookId: webhook, tokenHash: `${index}`.repeat(64) }));
    }
    await backUp(sample, undefined, later);
    await accepted({ type: 'DeleteWebhook', webhookId: deleted });
    await accepted({ type: 'RotateWebhook', webhookId: rotated, tokenHash: 'f'.repeat(64) });
    await accepted({ type: 'ChangeWebhook', webhookId: disabled, changes: { enabled: false } });
    await restore();
    await restore({}, later);
    const found = 'SELECT token_hash, enabled FROM webhooks WHERE webhook_id = ANY ($1) ORDER BY 1';
    const { rows } = await own.pool.query(found, [[deleted, rotated, disabled]]);
    expect(rows).toEqual([
      { token_hash: '0'.repeat(64), enabled: false },
      { token_hash: '2'.repeat(64), enabled: false },
      { token_hash: 'f'.repeat(64), enabled: true },
    ]);
  });

  test('does not revoke access that was granted again before the newer backup', async () => {
    await change(bob, true);
    await backUp(sample);
    await change(bob, false);
    await changePassword();
    await backUp(sample, undefined, later);
    await restore();
    await restore({}, later);
    expect(await hashes()).toMatchObject([
      { disabled: false, password_hash: 'second' },
      { disabled: false, password_hash: 'first' },
    ]);
  });
});
