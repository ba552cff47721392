// Long because it generates every command.
/** Generates commands with only a few different IDs, so that several commands affect the same stream. */
import { alarmNames } from '#domain/system/alarms.ts';
import type { Command } from '#domain/aggregates.ts';
import { roles } from '#domain/kernel/actor.ts';
import { scopes } from '#domain/kernel/rights.ts';
import type { ScriptFacts } from '#domain/kernel/aggregate.ts';
import { chainConditions } from '#domain/chain/chain.ts';
import type { ChannelCommand } from '#domain/channel/commands.ts';
import type { DeliveryCommand } from '#domain/delivery/commands.ts';
import type { BackupCommand } from '#domain/backup/commands.ts';
import { backupKinds } from '#domain/backup/backup.ts';
import type { RepositoryCommand } from '#domain/repository/commands.ts';
import type { CalendarCommand } from '#domain/calendar/commands.ts';
import type { PoolCommand } from '#domain/pool/commands.ts';
import type { ErrorGroupCommand } from '#domain/error-group/commands.ts';
import type { ExpectationCommand } from '#domain/expectation/commands.ts';
import type { RuleCommand } from '#domain/rule/commands.ts';
import type { ChainCommand } from '#domain/chain/commands.ts';
import type { IdentityProviderCommand } from '#domain/identity-provider/commands.ts';
import type { GroupCommand } from '#domain/group/commands.ts';
import type { NoticeCommand } from '#domain/notice/commands.ts';
import type { DisclosureCommand } from '#domain/disclosure/commands.ts';
import type { RefusalCommand } from '#domain/refusal/commands.ts';
import type { RunCommand } from '#domain/run/commands.ts';
import { failures, noTotals, type RunTotals, type Trigger } from '#domain/run/run.ts';
import type { RuntimeCommand } from '#domain/runtime/commands.ts';
import type { ScheduleCommand } from '#domain/schedule/commands.ts';
import type { ScheduleDefinition } from '#domain/schedule/schedule.ts';
import type { Edit, ScriptCommand } from '#domain/script/commands.ts';
import { isEdit } from '#domain/script/decide.ts';
import {
  defaultLimits,
  defaultSettings,
  maxFileBytes,
  type ScriptSettings,
} from '#domain/script/settings.ts';
import type { GroupSecretCommand } from '#domain/group-secret/commands.ts';
import type { RotationCommand } from '#domain/rotation/commands.ts';
import type { SecretStoreCommand } from '#domain/secret-store/commands.ts';
import type { SecretUseCommand } from '#domain/secret-use/commands.ts';
import type { SecretCommand } from '#domain/secret/commands.ts';
import type { SessionCommand } from '#domain/session/commands.ts';
import type { SystemCommand } from '#domain/system/commands.ts';
import type { TokenCommand } from '#domain/token/commands.ts';
import type { UpdateCommand } from '#domain/update/commands.ts';
import { discardCauses, updateSteps } from '#domain/update/update.ts';
import type { UserCommand } from '#domain/user/commands.ts';
import type { WebhookCommand } from '#domain/webhook/commands.ts';
import fc from 'fast-check';
import * as ids from './ids.ts';
import {
  backupContent,
  createChain,
  createChannel,
  commitFacts,
  createIdentityProvider,
  createRepository,
  scriptSource,
  writtenSource,
  createSecretStore,
  createRule,
  queueDelivery,
  createSchedule,
  createScript,
  createUser,
  createWebhook,
  file,
  hourly,
  postNotice,
  recordDisclosure,
  recordRefusal,
  runScript,
  scriptFacts,
  issueToken,
  noteRelease,
  startUpdate,
  setSecret,
  sealed,
  webhookSigning,
} from './samples.ts';

function one<Id>(make: (number: number) => Id, among = 3): fc.Arbitrary<Id> {
  return fc.integer({ min: 1, max: among }).map(make);
}

const scriptId = one(ids.scriptId);
const runId = one(ids.runId, 4);
const userId = one(ids.userId);
const groupId = one(ids.groupId, 2);
const secretStoreId = one(ids.secretStoreId, 2);
const identityProviderId = one(ids.identityProviderId, 2);
const sessionId = one(ids.sessionId, 2);
const text = fc.constantFrom('', 'Report', 'a "b" \\ {c,d}', 'é😀', 'NULL');

const contents = [0, 1, 40, 60, maxFileBytes, maxFileBytes + 1];
const anyPath = fc.constantFrom(
  'main.py',
  'lib',
  'lib/a.py',
  'lib/a/b.py',
  'data/x',
  '../x',
  'é.txt',
);
const anyFile = fc
  .tuple(anyPath, fc.nat(contents.length - 1))
  // The size depends only on the content, as in real files.
  .map(([path, index]) => file(path, 'abcdef'[index], contents[index]));

const limits = fc
  .record({ cpu_seconds: fc.option(fc.constantFrom(1, 60)), open_files: fc.constantFrom(16, 256) })
  .map((some) => ({ ...some, ...Object.fromEntries(limitsBut(Object.keys(some))) }))
  .map((all) => all as unknown as ScriptSettings['limits']);

function limitsBut(names: readonly string[]) {
  return Object.entries(defaultLimits).filter(([name]) => !names.includes(name));
}

const settings = fc.record(
  {
    maxConcurrentRuns: fc.constantFrom(1, 2, 3),
    storageQuotaBytes: fc.constantFrom(0, 50, 100, defaultSettings.storageQuotaBytes),
    entrypoint: fc.constantFrom('main.py', 'lib/a.py'),
    limits,
    tags: fc.constantFrom([], ['x'], ['x', 'y z']),
    runsOn: fc.constantFrom([], ['gpu'], ['gpu', 'zone-b']),
    pools: fc.constantFrom([], [], [], ['crm-api']),
    expectations: fc.constantFrom([], [{ kind: 'success_within', seconds: 3600 } as const]),
    protected: fc.record({
      run: fc.constantFrom(false, false, true),
      save: fc.constantFrom(false, false, true),
    }),
  },
  { requiredKeys: [] },
);

const expectedVersion = fc.constantFrom(1, 2, 3);
const expectedSha256 = fc.constantFrom('a'.repeat(64), 'b'.repeat(64));

const directScriptCommand: fc.Arbitrary<ScriptCommand> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('SetScriptSource'),
      scriptId,
      repositoryId: fc.constant(ids.repositoryId()),
      source: fc.constantFrom(null, scriptSource(), writtenSource()),
      startsWriteBack: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: creation() },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        type: fc.constant('ChangeScript'),
        scriptId,
        name: text,
        description: text,
        groupId,
        settings,
        expectedVersion,
      },
      { requiredKeys: ['type', 'scriptId'] },
    ),
  },
  {
    weight: 8,
    arbitrary: fc
      .record(
        {
          type: fc.constant('SaveFile'),
          scriptId,
          expectedVersion,
          expectedSha256,
          saved: anyFile,
        },
        { requiredKeys: ['type', 'scriptId', 'saved'] },
      )
      .map(({ saved, ...rest }) => ({ ...rest, ...saved })),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { type: fc.constant('DeleteFile'), scriptId, path: anyPath, expectedVersion, expectedSha256 },
      { requiredKeys: ['type', 'scriptId', 'path'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        type: fc.constant('MoveFile'),
        scriptId,
        path: anyPath,
        to: anyPath,
        expectedVersion,
        expectedSha256,
      },
      { requiredKeys: ['type', 'scriptId', 'path', 'to'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        type: fc.constant('RestoreFiles'),
        scriptId,
        restoredVersion: fc.integer({ min: 1, max: 9 }),
        files: fc.array(anyFile, { maxLength: 3 }),
        entrypoint: anyPath,
        expectedVersion,
      },
      { requiredKeys: ['type', 'scriptId', 'restoredVersion', 'files', 'entrypoint'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom(
        'EnableScript',
        'DisableScript',
        'RestoreScript',
        'PurgeScript',
        'FinishPurge',
      ),
      scriptId,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { type: fc.constant('DeleteScript'), scriptId, expectedVersion },
      { requiredKeys: ['type', 'scriptId'] },
    ),
  },
);

const edits = fc.array(
  directScriptCommand.filter(isEdit).map(({ scriptId: _, ...command }) => {
    const { expectedVersion: __, ...edit } = { expectedVersion: undefined, ...command };
    return edit as Edit;
  }),
  { minLength: 1, maxLength: 3 },
);

const changeId = fc.constantFrom(...[1, 2, 3].map((number) => ids.changeId(number)));
const approver = fc.record({ userId, isAdministrator: fc.boolean() });
const expiresAt = fc.constantFrom('2026-01-05T00:00:00.000Z', '2026-01-08T00:00:00.000Z');
const decidedAt = fc.constantFrom('2026-01-02T00:00:00.000Z', '2026-01-09T00:00:00.000Z');

export const scriptCommand: fc.Arbitrary<ScriptCommand> = fc.oneof(
  { weight: 12, arbitrary: directScriptCommand },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('EditScript'),
      scriptId,
      edits,
      approval: fc.record({
        changeId,
        requestedBy: fc.option(one(ids.userId), { freq: 4 }),
        expiresAt,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('ApproveChange'),
      scriptId,
      changeId,
      revision: fc.constantFrom(1, 1, 2),
      edits,
      approver,
      at: decidedAt,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('RejectChange'),
      scriptId,
      changeId,
      approver,
      at: decidedAt,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('RebaseChange'),
      scriptId,
      changeId,
      expiresAt,
      at: decidedAt,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('ExpireChange'), scriptId, changeId, at: decidedAt }),
  },
);

function creation(): fc.Arbitrary<ScriptCommand> {
  return fc
    .record({
      scriptId,
      groupId,
      name: text,
      changed: settings,
      files: fc.oneof(fc.constant([file('main.py')]), fc.array(anyFile, { maxLength: 3 })),
    })
    .map(({ changed, ...rest }) =>
      createScript({ ...rest, settings: { ...defaultSettings, ...changed } }),
    );
}

const count = fc.option(fc.nat(1000));
const totals: fc.Arbitrary<RunTotals> = fc.record({
  durationMs: count,
  cpuSeconds: fc.option(fc.constantFrom(0, 0.1, 12.5)),
  maxMemoryBytes: count,
  maxThreads: count,
  logLines: fc.nat(1000),
  logBytes: fc.nat(1000),
  logTruncated: fc.boolean(),
});

const trigger: fc.Arbitrary<Trigger> = fc.oneof(
  fc.constant({ type: 'manual' } as const),
  fc.record({
    type: fc.constant('schedule'),
    scheduleId: one(ids.scheduleId, 2),
    dueAt: fc.constantFrom('2026-01-01T00:00:20.000Z', '2026-01-01T00:00:27.000Z'),
    outcome: fc.constant('fired'),
  }),
  fc.record({
    type: fc.constant('event'),
    cause: fc.constant('chain'),
    chainId: one(ids.chainId, 2),
    runId,
    depth: fc.constant(1),
    payloadSha256: fc.constant('b'.repeat(64)),
  }),
);

const approvalRequest = fc.record({
  requestedBy: fc.option(userId),
  expiresAt: fc.constant('2026-01-08T00:00:00.000Z'),
});

export const runCommand: fc.Arbitrary<RunCommand> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        runId,
        scriptId,
        timeoutSeconds: fc.option(fc.constant(9)),
        trigger,
        whenBusy: fc.constantFrom('refuse', 'refuse', 'queue'),
        approval: approvalRequest,
      })
      .map((changes) => runScript(changes)),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('StartRun'),
      runId,
      runtimeId: fc.constantFrom('runtime-1', 'runtime-2'),
      layers: fc.constantFrom([], ['rlimits', 'landlock']),
    }),
  },
  fc.record({ type: fc.constant('ReleaseRun'), runId, scriptId }),
  fc.record({ type: fc.constant('ApproveRun'), runId, scriptId, approver, at: decidedAt }),
  fc.record({ type: fc.constant('RejectRun'), runId, scriptId, approver, at: decidedAt }),
  fc.record({ type: fc.constant('ExpireApproval'), runId, at: decidedAt }),
  fc.record({ type: fc.constant('StopRun'), runId }),
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('FinishRun'),
      runId,
      fence: fc.constantFrom(2, 2, 2, 1, 3),
      outcome: fc.constantFrom('success', 'stopped', ...failures),
      exitCode: fc.option(fc.constantFrom(0, 1, 255)),
      signal: fc.option(fc.constant('SIGKILL')),
      totals,
    }),
  },
  fc.record({
    type: fc.constant('AbandonRun'),
    runId,
    failure: fc.constantFrom('environment_error', 'sandbox_error', 'expired'),
    totals: fc.constant(noTotals),
  }),
);

export const sessionCommand: fc.Arbitrary<SessionCommand> = fc.oneof(
  fc.record({
    type: fc.constant('OpenSession'),
    sessionId,
    userId,
    accountVersion: fc.constantFrom(1, 2),
    userAgent: fc.option(text),
  }),
  fc.record({
    type: fc.constant('CloseSession'),
    sessionId,
    reason: fc.constantFrom('logout', 'revoked', 'refresh_reused'),
  }),
);

const userSettings = {
  role: fc.constantFrom(...roles),
  groupIds: fc.array(groupId, { maxLength: 2 }),
  canAudit: fc.boolean(),
};
export const userCommand: fc.Arbitrary<UserCommand> = fc.oneof(
  fc
    .record({
      userId,
      email: fc.constantFrom('ada@example.com', 'bob@example.com'),
      ...userSettings,
    })
    .map((changes) => createUser(changes)),
  fc.record({
    type: fc.constant('ChangeUser'),
    userId,
    changes: fc.record(
      { name: text, disabled: fc.boolean(), ...userSettings },
      { requiredKeys: [] },
    ),
  }),
  fc.record(
    {
      type: fc.constant('ChangeUserPassword'),
      userId,
      credentialId: fc.uuid(),
      keptSessionId: sessionId,
    },
    { requiredKeys: ['type', 'userId', 'credentialId'] },
  ),
  fc.record({ type: fc.constant('LeaveGroup'), userId, groupId }),
  fc.record({
    type: fc.constant('LinkIdentity'),
    userId,
    identityProviderId,
    issuer: fc.constant('https://id.example.com'),
    subject: fc.constantFrom('ada', 'bob'),
  }),
  fc.record({ type: fc.constant('UnlinkIdentity'), userId, identityProviderId }),
  fc.record({
    type: fc.constant('EnableSecondFactor'),
    userId,
    sealed: fc.constant(sealed),
    recoveryHashes: fc.constant(['aa', 'bb']),
  }),
  fc.record({ type: fc.constant('DisableSecondFactor'), userId }),
  fc.record({
    type: fc.constant('ReplaceRecoveryCodes'),
    userId,
    recoveryHashes: fc.constant(['cc']),
  }),
  fc.record({
    type: fc.constant('UseRecoveryCode'),
    userId,
    recoveryHash: fc.constantFrom('aa', 'cc'),
  }),
  fc.record({
    type: fc.constant('AddPasskey'),
    userId,
    passkeyId: fc.constantFrom('p1', 'p2'),
    name: fc.constant('Laptop'),
    webauthnId: fc.constantFrom('w1', 'w2'),
    publicKey: fc.constant('key'),
    counter: fc.constantFrom(0, 1),
    transports: fc.constant(['internal']),
    recoveryHashes: fc.constantFrom([], ['aa', 'bb']),
  }),
  fc.record({ type: fc.constant('RemovePasskey'), userId, passkeyId: fc.constantFrom('p1', 'p2') }),
  fc.record({
    type: fc.constant('RenamePasskey'),
    userId,
    passkeyId: fc.constantFrom('p1', 'p2'),
    name: fc.constantFrom('Laptop', 'Phone', ''),
  }),
  fc.record({
    type: fc.constant('UsePasskey'),
    userId,
    passkeyId: fc.constantFrom('p1', 'p2'),
    counter: fc.constantFrom(0, 1, 2),
  }),
);

export const secretStoreCommand: fc.Arbitrary<SecretStoreCommand> = fc.oneof(
  fc.record({ secretStoreId, name: text }).map((changes) => createSecretStore(changes)),
  fc.record(
    {
      type: fc.constant('ChangeSecretStore'),
      secretStoreId,
      name: text,
      connection: fc.constantFrom(
        { type: 'files', folder: 'mounted' } as const,
        { type: 'files', folder: '../etc' } as const,
      ),
      expectedVersion: fc.constantFrom(1, 2),
    },
    { requiredKeys: ['type', 'secretStoreId'] },
  ),
  fc.record({ type: fc.constant('DeleteSecretStore'), secretStoreId }),
);

export const identityProviderCommand: fc.Arbitrary<IdentityProviderCommand> = fc.oneof(
  fc
    .record({ identityProviderId, name: text, enabled: fc.boolean() })
    .map((changes) => createIdentityProvider(changes)),
  fc.record(
    {
      type: fc.constant('ChangeIdentityProvider'),
      identityProviderId,
      name: text,
      enabled: fc.boolean(),
      issuer: fc.constantFrom('https://id.example.com', 'http://id.example.com'),
      expectedVersion: fc.constantFrom(1, 2),
    },
    { requiredKeys: ['type', 'identityProviderId'] },
  ),
  fc.record({ type: fc.constant('DeleteIdentityProvider'), identityProviderId }),
);

const hash = fc.constantFrom('first', 'second', 'third');
const look = {
  name: text,
  color: fc.constantFrom('#112233', '#abcdef'),
  icon: fc.constant('folder'),
};
export const groupCommand: fc.Arbitrary<GroupCommand> = fc.oneof(
  fc.record({ type: fc.constant('CreateGroup'), groupId, ...look }),
  fc.record({
    type: fc.constant('ChangeGroup'),
    groupId,
    changes: fc.record(look, { requiredKeys: [] }),
  }),
  fc.record({ type: fc.constant('DeleteGroup'), groupId }),
);

const secretName = fc.constantFrom('TOKEN', 'db_password', 'PATH', '7');

export const secretCommand: fc.Arbitrary<SecretCommand> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record(
        {
          scriptId,
          name: secretName,
          asEnvironment: fc.boolean(),
          rotateAfterDays: fc.constantFrom(null, 0, 90),
          version: fc.constantFrom(1, 2),
        },
        { requiredKeys: ['scriptId', 'name', 'version'] },
      )
      .map((changes) => setSecret(changes)),
  },
  fc.record({ type: fc.constant('DeleteSecret'), scriptId, name: secretName }),
);

export const groupSecretCommand: fc.Arbitrary<GroupSecretCommand> = fc
  .tuple(secretCommand, groupId)
  .map(([command, id]) => {
    const { scriptId: _, ...data } = command;
    return data.type === 'SetSecret'
      ? { ...data, type: 'SetGroupSecret', groupId: id }
      : { ...data, type: 'DeleteGroupSecret', groupId: id };
  });

export const secretUseCommand: fc.Arbitrary<SecretUseCommand> = fc.record({
  type: fc.constant('ReadSecrets'),
  runId,
  scriptId,
  secrets: fc.uniqueArray(fc.record({ name: secretName, version: fc.constantFrom(1, 2) }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ name }) => name,
  }),
});

export const tokenCommand: fc.Arbitrary<TokenCommand> = fc.oneof(
  fc
    .record({
      tokenId: one(ids.tokenId),
      userId,
      name: text,
      scopes: fc.uniqueArray(fc.constantFrom(...scopes)),
      expiresAt: fc.constantFrom(null, '2026-12-21T02:31:00.000Z'),
    })
    .map((changes) => issueToken(changes)),
  fc.record({ type: fc.constant('RevokeToken'), tokenId: one(ids.tokenId) }),
);

const definition: fc.Arbitrary<ScheduleDefinition> = fc
  .record({
    timing: fc.constantFrom(
      { kind: 'cron', cron: '*/20 * * * * *', intervalSeconds: null } as const,
      { kind: 'cron', cron: '61 * * * *', intervalSeconds: null } as const,
      { kind: 'interval', cron: null, intervalSeconds: 7 } as const,
    ),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Mars/Olympus'),
    startAt: fc.constantFrom(null, '2026-01-01T00:00:05Z'),
    endAt: fc.constantFrom(null, null, '2026-01-01T00:00:30Z'),
    enabled: fc.constantFrom(true, true, false),
    paramsSha256: fc.constantFrom(null, 'a'.repeat(64)),
  })
  .map(({ timing, ...changes }) => ({ ...hourly, ...changes, ...timing }));

const scheduleId = one(ids.scheduleId, 2);
export const scheduleCommand: fc.Arbitrary<ScheduleCommand> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ scheduleId, definition }).map((changes) => createSchedule(changes)),
  },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        type: fc.constant('ChangeSchedule'),
        scheduleId,
        scriptId: fc.constant(ids.scriptId()),
        definition,
        expectedVersion,
      },
      { requiredKeys: ['type', 'scheduleId', 'scriptId', 'definition'] },
    ),
  },
  fc.record({
    type: fc.constant('DeleteSchedule'),
    scheduleId,
    scriptId: fc.constant(ids.scriptId()),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('PassOccurrences'),
      scheduleId,
      scriptId: fc.constant(ids.scriptId()),
      occurrences: fc.constantFrom(
        [
          { dueAt: '2026-01-01T00:00:20.000Z', outcome: 'missed', reason: 'too_late' } as const,
          { dueAt: '2026-01-01T00:00:40.000Z', outcome: 'skipped', reason: 'overlap' } as const,
        ],
        [{ dueAt: '2026-01-01T00:01:00.000Z', outcome: 'skipped', reason: 'overlap' } as const],
      ),
    }),
  },
);

const webhookId = one(ids.webhookId);
const webhookSettings = {
  name: text,
  enabled: fc.boolean(),
  whenBusy: fc.constantFrom('refuse', 'queue'),
  rateLimitPerMinute: fc.constantFrom(1, 60),
};
const anySigning = fc.constantFrom(1, 2, 3).map((version) => webhookSigning(version));
export const webhookCommand: fc.Arbitrary<WebhookCommand> = fc.oneof(
  fc
    .record(
      { webhookId, scriptId, tokenHash: hash, ...webhookSettings, signing: anySigning },
      { requiredKeys: ['webhookId'] },
    )
    .map((changes) => createWebhook(changes)),
  fc.record({
    type: fc.constant('ChangeWebhook'),
    webhookId,
    changes: fc.record(webhookSettings, { requiredKeys: [] }),
  }),
  fc.record({
    type: fc.constant('ChangeWebhook'),
    webhookId,
    changes: fc.constant({}),
    signing: fc.option(anySigning),
  }),
  fc.record({ type: fc.constant('RotateWebhook'), webhookId, tokenHash: hash }),
  fc.record({ type: fc.constant('DeleteWebhook'), webhookId }),
);

const chainId = one(ids.chainId, 2);
const chainSettings = {
  targetScriptId: scriptId,
  on: fc.constantFrom(...chainConditions),
  enabled: fc.boolean(),
  whenBusy: fc.constantFrom('refuse', 'queue'),
  paramsSha256: fc.constantFrom(null, 'a'.repeat(64)),
} as const;
const channelId = one(ids.channelId);
const sealedValues = fc.constantFrom(null, {
  keyId: ids.scriptId(),
  nonce: 'bm9uY2U=',
  ciphertext: 'YQ==',
});
const channelConfig = fc.constantFrom(
  { kind: 'webhook', url: 'https://example.com/' } as const,
  { kind: 'in_app', groupId: null } as const,
);

export const channelCommand: fc.Arbitrary<ChannelCommand> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .record({ channelId, sealed: sealedValues, config: channelConfig })
      .map((changes) => createChannel(changes)),
  },
  fc.record(
    {
      type: fc.constant('ChangeChannel'),
      channelId,
      name: text,
      enabled: fc.boolean(),
      config: channelConfig,
      sealed: sealedValues,
      expectedVersion,
    },
    { requiredKeys: ['type', 'channelId'] },
  ),
  fc.record({ type: fc.constant('DeleteChannel'), channelId }),
);

const ruleSettings = {
  name: text,
  enabled: fc.boolean(),
  on: fc.constantFrom(['failed'] as const, ['recovered', 'message'] as const),
  channelIds: fc.array(channelId, { maxLength: 2 }),
};
const ruleId = one(ids.ruleId);

export const ruleCommand: fc.Arbitrary<RuleCommand> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.record(ruleSettings), fc.integer({ min: 1, max: 3 }))
      .map(([changes, number]) => createRule(changes, number)),
  },
  fc.record({
    type: fc.constant('ChangeRule'),
    ruleId,
    changes: fc.record(ruleSettings, { requiredKeys: [] }),
  }),
  fc.record({ type: fc.constant('DeleteRule'), ruleId }),
);

const errorGroupId = one(ids.errorGroupId);
const somewhen = fc.constantFrom(null, '2026-01-02T00:00:00.000Z');
const someVersion = fc.constantFrom(null, 1, 2, 3);

export const errorGroupCommand: fc.Arbitrary<ErrorGroupCommand> = fc.oneof(
  fc.record({ type: fc.constant('ResolveErrorGroup'), errorGroupId, version: someVersion }),
  fc.record({
    type: fc.constant('ResolveErrorGroup'),
    errorGroupId,
    version: fc.integer({ min: 1, max: 9 }),
    scriptId,
  }),
  fc.record({ type: fc.constant('IgnoreErrorGroup'), errorGroupId, until: somewhen }),
  fc.record({
    type: fc.constant('ReopenErrorGroup'),
    errorGroupId,
    runId: fc.constantFrom(null, ids.runId()),
    scriptId: fc.constantFrom(null, ids.scriptId()),
    version: someVersion,
  }),
);

const poolId = one(ids.poolId);
const poolName = fc.constantFrom('crm-api', 'not a name');
const poolLimit = fc.constantFrom(-1, 0, 1, 3);

const repositoryId = one(ids.repositoryId, 2);
const synced = {
  repositoryId,
  created: fc.constantFrom(0, 2),
  changed: fc.constant(0),
  deleted: fc.constant(0),
  added: fc.constantFrom([], [{ kind: 'script', id: 'x' }]),
  removed: fc.constant([]),
};

export const repositoryCommand: fc.Arbitrary<RepositoryCommand> = fc.oneof(
  fc.record({ repositoryId, name: text }).map((changes) => createRepository(changes)),
  fc.record(
    {
      type: fc.constant('ChangeRepository'),
      repositoryId,
      branch: fc.constantFrom('main', 'a..b', 'release'),
      mode: fc.constantFrom('read', 'write_back'),
      writeBranch: fc.constantFrom(null, 'orchestrator/changes', '-x'),
      credential: fc.constantFrom(null, { kind: 'token', username: 'git', sealed } as const),
      expectedVersion: fc.constantFrom(1, 2),
    },
    { requiredKeys: ['type', 'repositoryId'] },
  ),
  fc.record({ type: fc.constant('DeleteRepository'), repositoryId }),
  fc.record({ type: fc.constant('RecordSync'), commit: fc.constant(commitFacts()), ...synced }),
  fc.record({
    type: fc.constant('RecordSyncFailure'),
    repositoryId,
    commit: fc.constantFrom(null, commitFacts()),
    problem: fc.constantFrom('first', 'second'),
  }),
);

export const poolCommand: fc.Arbitrary<PoolCommand> = fc.oneof(
  fc.record({ type: fc.constant('CreatePool'), poolId, name: poolName, limit: poolLimit }),
  fc.record({ type: fc.constant('ChangePool'), poolId, limit: poolLimit }),
  fc.record({ type: fc.constant('DeletePool'), poolId, name: poolName }),
);

export const expectationCommand: fc.Arbitrary<ExpectationCommand> = fc.record({
  type: fc.constant('NoteExpectations'),
  scriptId,
  missed: fc.subarray([
    { on: 'script_stale', key: 'success_within 3600', runId: null, detail: 'Stale.' },
    { on: 'run_too_long', key: 'longer_than 2', runId: ids.runId(), detail: 'Long.' },
  ] as const),
  checked: fc.subarray(['success_within 3600', 'longer_than 2']),
  seen: fc.constantFrom(0, 1, 2),
});

const calendarId = one(ids.calendarId);
const calendarName = fc.constantFrom('Holidays', '');
const calendarContent = fc
  .subarray([
    { summary: 'New Year', from: '2027-01-01T00:00:00', to: '2027-01-02T00:00:00' },
    { summary: 'Freeze', from: '2027-01-04T08:00:00Z', to: '2027-01-04T09:00:00Z' },
  ])
  .map((periods) => ({ periods, coveredUntil: '2031-01-01T00:00:00.000Z' }));

export const calendarCommand: fc.Arbitrary<CalendarCommand> = fc.oneof(
  fc.record({
    type: fc.constant('CreateCalendar'),
    calendarId,
    name: calendarName,
    content: calendarContent,
  }),
  fc.record(
    {
      type: fc.constant('ChangeCalendar'),
      calendarId,
      name: calendarName,
      content: calendarContent,
    },
    { requiredKeys: ['type', 'calendarId'] },
  ),
  fc.record({ type: fc.constant('DeleteCalendar'), calendarId }),
);

export const rotationCommand: fc.Arbitrary<RotationCommand> = fc
  .record({
    due: fc.subarray(
      [1, 2].map((version) => ({
        name: 'TOKEN',
        version,
        ownerName: 'Report',
        dueAt: '2026-04-01T00:00:00.000Z',
      })),
    ),
    present: fc.subarray(['TOKEN', 'KEY']),
    seen: fc.constantFrom(0, 1, 2),
    owner: fc.constantFrom(
      { scriptId: ids.scriptId(), groupId: null },
      { scriptId: null, groupId: ids.groupId() },
    ),
  })
  .map(({ owner, ...data }) => ({ type: 'NoteRotations', ...owner, ...data }));

export const runtimeCommand: fc.Arbitrary<RuntimeCommand> = fc.record({
  type: fc.constantFrom('DrainRuntime', 'ResumeRuntime'),
  runtimeId: fc.constantFrom('runtime-1', 'runtime-2'),
});

const backupId = one(ids.backupId);
const wholeBackup = fc
  .record({ kind: fc.constantFrom(...backupKinds), encrypted: fc.boolean() })
  .map((changes) => backupContent(changes));

export const backupCommand: fc.Arbitrary<BackupCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('StartBackup'),
      backupId,
      kind: fc.constantFrom(...backupKinds),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('FinishBackup', 'FindBackup', 'TakeInBackup'),
      backupId,
      content: wholeBackup,
    }),
  },
  fc.record({
    type: fc.constantFrom('FailBackup', 'FailRestore'),
    backupId,
    reason: fc.constant('no room'),
  }),
  fc.record({
    type: fc.constant('RecordCheck'),
    backupId,
    problem: fc.constantFrom(null, 'Its end is missing.'),
  }),
  fc.record({
    type: fc.constantFrom('CheckBackup', 'RequestRestore', 'LoseBackup', 'DeleteBackup'),
    backupId,
  }),
);

const deliveryId = one(ids.deliveryId);
const attemptResult = fc.oneof(
  fc.constant({ kind: 'sent' } as const),
  fc.record({
    kind: fc.constant('failed'),
    error: text,
    final: fc.boolean(),
    retryAfterSeconds: fc.constantFrom(null, 0, 90, 1e9),
  }),
);

export const deliveryCommand: fc.Arbitrary<DeliveryCommand> = fc.oneof(
  fc
    .record({
      deliveryId,
      kind: fc.constantFrom('webhook', 'email'),
      ruleId: fc.option(ruleId),
    })
    .map((changes) => queueDelivery(changes)),
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('RecordAttempt'),
      deliveryId,
      attempt: fc.integer({ min: 1, max: 4 }),
      at: fc.constant('2026-01-01T00:00:00.000Z'),
      result: attemptResult,
    }),
  },
);

export const chainCommand: fc.Arbitrary<ChainCommand> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({ chainId, sourceScriptId: scriptId, ...chainSettings })
      .map((changes) => createChain(changes)),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('ChangeChain'),
      chainId,
      changes: fc.record(chainSettings, { requiredKeys: [] }),
    }),
  },
  fc.record({ type: fc.constant('DeleteChain'), chainId }),
  fc.record({
    type: fc.constant('SkipChain'),
    chainId,
    sourceRunId: runId,
    reason: fc.constant('script_disabled'),
  }),
);

export const noticeCommand: fc.Arbitrary<NoticeCommand> = fc
  .record({ noticeId: one(ids.noticeId), scriptId, message: text })
  .map((changes) => postNotice(changes));

export const refusalCommand: fc.Arbitrary<RefusalCommand> = fc
  .record({
    refusalId: one(ids.refusalId),
    resource: fc.option(text),
    count: fc.constantFrom(1, 7),
  })
  .map((changes) => recordRefusal(changes));

export const disclosureCommand: fc.Arbitrary<DisclosureCommand> = fc
  .record({
    disclosureId: one(ids.disclosureId),
    resource: fc.option(text),
    detail: fc.option(text),
  })
  .map((changes) => recordDisclosure(changes));

const days = fc.constantFrom(null, 0, 1, 30);
export const systemCommand: fc.Arbitrary<SystemCommand> = fc.oneof(
  fc.record({ type: fc.constantFrom('PauseTriggers', 'ResumeTriggers') }),
  fc.record({
    type: fc.constant('NoteAlarms'),
    alarms: fc.uniqueArray(
      fc.record({ name: fc.constantFrom(...alarmNames), detail: fc.constant('Look.') }),
      { selector: ({ name }) => name },
    ),
  }),
  fc.record({
    type: fc.constant('ChangeRetention'),
    changes: fc.record({ logsDays: days, payloadsDays: days }, { requiredKeys: [] }),
  }),
  fc.record({
    type: fc.constant('ChangeBackupSchedule'),
    changes: fc.record(
      { cron: fc.constantFrom(null, '0 3 * * *', 'never'), keep: fc.constantFrom(0, 1, 7) },
      { requiredKeys: [] },
    ),
  }),
);

const version = fc.constantFrom('0.1.12', '0.1.13', '0.1.14', '0.2.0');
export const updateCommand: fc.Arbitrary<UpdateCommand> = fc.oneof(
  fc
    .record({ version, sha256: fc.constantFrom('c'.repeat(64), 'd'.repeat(64)) })
    .map((changes) => noteRelease(changes)),
  fc
    .record({
      updateId: one(ids.updateId),
      kind: fc.constantFrom('update' as const, 'rollback' as const),
      to: version,
    })
    .map((changes) => startUpdate(changes)),
  fc.record({
    type: fc.constant('FinishUpdateStep'),
    updateId: one(ids.updateId),
    step: fc.constantFrom(...updateSteps),
    detail: fc.option(text),
  }),
  fc.record({ type: fc.constant('SucceedUpdate'), updateId: one(ids.updateId) }),
  fc.record({
    type: fc.constantFrom('FailUpdate', 'RollUpdateBack'),
    updateId: one(ids.updateId),
    reason: text,
  }),
  fc.record({
    type: fc.constant('DiscardRollback'),
    updateId: one(ids.updateId),
    cause: fc.constantFrom(...discardCauses),
  }),
);

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: scriptCommand },
  { weight: 8, arbitrary: runCommand },
  sessionCommand,
  userCommand,
  { weight: 2, arbitrary: groupCommand },
  systemCommand,
  secretCommand,
  groupSecretCommand,
  secretUseCommand,
  { weight: 4, arbitrary: scheduleCommand },
  noticeCommand,
  webhookCommand,
  channelCommand,
  ruleCommand,
  identityProviderCommand,
  secretStoreCommand,
  errorGroupCommand,
  expectationCommand,
  rotationCommand,
  calendarCommand,
  poolCommand,
  repositoryCommand,
  runtimeCommand,
  deliveryCommand,
  backupCommand,
  updateCommand,
  { weight: 2, arbitrary: chainCommand },
  tokenCommand,
  refusalCommand,
  disclosureCommand,
);

export const anyScriptFacts: fc.Arbitrary<ScriptFacts | undefined> = fc.option(
  fc
    .record({
      enabled: fc.boolean(),
      deleted: fc.boolean(),
      maxConcurrentRuns: fc.constantFrom(1, 2),
      activeRuns: fc.constantFrom(0, 1, 2),
      waitingRuns: fc.constantFrom(0, 0, 1),
      protectedRun: fc.boolean(),
    })
    .map((changes) => scriptFacts(changes)),
  { nil: undefined },
);
