// Long because it has an example of every command.
/** A simple example of each command, fact and event. Tests override individual fields. */
import type { RecordDisclosure } from '#domain/disclosure/commands.ts';
import type { ScriptFacts } from '#domain/kernel/aggregate.ts';
import type { CreateChannel } from '#domain/channel/commands.ts';
import type { QueueDelivery } from '#domain/delivery/commands.ts';
import type { BackupContent } from '#domain/backup/backup.ts';
import type { CreateRule } from '#domain/rule/commands.ts';
import type { RuleSettings } from '#domain/rule/rule.ts';
import type { CreateChain } from '#domain/chain/commands.ts';
import type { CreateIdentityProvider } from '#domain/identity-provider/commands.ts';
import type { CreateGroup } from '#domain/group/commands.ts';
import type { PostNotice } from '#domain/notice/commands.ts';
import type { RecordRefusal } from '#domain/refusal/commands.ts';
import type { CreateRepository } from '#domain/repository/commands.ts';
import type { CommitFacts, ScriptSource, WriteBack } from '#domain/repository/repository.ts';
import type { FinishRun, RunScript } from '#domain/run/commands.ts';
import type { RunFinished, RunQueued, RunStarted } from '#domain/run/events.ts';
import { noTotals } from '#domain/run/run.ts';
import type { CreateSchedule } from '#domain/schedule/commands.ts';
import type { ScheduleDefinition } from '#domain/schedule/schedule.ts';
import type { CreateScript } from '#domain/script/commands.ts';
import type { FileVersion, ScriptCreated } from '#domain/script/events.ts';
import { defaultLimits, defaultSettings } from '#domain/script/settings.ts';
import type { CreateSecretStore } from '#domain/secret-store/commands.ts';
import type { SetSecret } from '#domain/secret/commands.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { IssueToken } from '#domain/token/commands.ts';
import type { NoteRelease, StartUpdate } from '#domain/update/commands.ts';
import type { CreateUser } from '#domain/user/commands.ts';
import {
  chainId,
  channelId,
  commandId,
  deliveryId,
  disclosureId,
  groupId,
  identityProviderId,
  secretStoreId,
  noticeId,
  refusalId,
  repositoryId,
  ruleId,
  runId,
  scheduleId,
  scriptId,
  tokenId,
  updateId,
  userId,
  webhookId,
} from './ids.ts';
import type { CreateWebhook } from '#domain/webhook/commands.ts';
import type { WebhookSigning } from '#domain/webhook/webhook.ts';

/** Returns the same hash for the same letter. */
export function file(path: string, letter = 'a', sizeBytes = 10): FileVersion {
  return { path, sha256: letter.repeat(64), sizeBytes };
}

export function createScript(changes: Partial<CreateScript> = {}): CreateScript {
  return {
    type: 'CreateScript',
    scriptId: scriptId(),
    name: 'Report',
    description: 'Counts things.',
    groupId: groupId(),
    settings: defaultSettings,
    files: [file('main.py')],
    ...changes,
  };
}

export function scriptCreated(changes: Partial<CreateScript> = {}): ScriptCreated {
  const { type: _, ...data } = createScript(changes);
  return { type: 'ScriptCreated', data };
}

export function scriptFacts(changes: Partial<ScriptFacts> = {}): ScriptFacts {
  return {
    name: 'Report',
    groupId: groupId(),
    version: 1,
    enabled: true,
    deleted: false,
    maxConcurrentRuns: 1,
    entrypoint: 'main.py',
    limits: { ...defaultLimits },
    environment: {},
    python: null,
    startMode: 'warm',
    listenPorts: [],
    runsOn: [],
    pools: [],
    source: null,
    protectedRun: false,
    resolution: null,
    activeRuns: 0,
    waitingRuns: 0,
    ...changes,
  };
}

export function runScript(changes: Partial<RunScript> = {}): RunScript {
  return {
    type: 'RunScript',
    runId: runId(),
    scriptId: scriptId(),
    trigger: { type: 'manual' },
    paramsSha256: null,
    timeoutSeconds: null,
    ...changes,
  };
}

export function runQueued(changes: Partial<RunQueued['data']> = {}): RunQueued {
  return {
    type: 'RunQueued',
    data: {
      runId: runId(),
      scriptId: scriptId(),
      scriptName: 'Report',
      groupId: groupId(),
      scriptVersion: 1,
      entrypoint: 'main.py',
      limits: defaultLimits,
      trigger: { type: 'manual' },
      paramsSha256: null,
      attempt: 1,
      parentRunId: null,
      ...changes,
    },
  };
}

export function runStarted(changes: Partial<RunStarted['data']> = {}): RunStarted {
  return {
    type: 'RunStarted',
    data: {
      runId: runId(),
      scriptId: scriptId(),
      runtimeId: 'runtime-1',
      layers: ['rlimits'],
      ...changes,
    },
  };
}

/** The report from a runtime that started the run. The start was the second event of the run. */
export function finishRun(changes: Partial<FinishRun> = {}): FinishRun {
  return {
    type: 'FinishRun',
    runId: runId(),
    fence: 2,
    outcome: 'success',
    exitCode: 0,
    signal: null,
    totals: { ...noTotals, durationMs: 1500, logLines: 3, logBytes: 42 },
    ...changes,
  };
}

export function runFinished(changes: Partial<RunFinished['data']> = {}): RunFinished {
  const { type: _, fence: __, ...data } = finishRun();
  return { type: 'RunFinished', data: { ...data, scriptId: scriptId(), ...changes } };
}

export function createUser(changes: Partial<CreateUser> = {}): CreateUser {
  return {
    type: 'CreateUser',
    userId: userId(),
    email: 'ada@example.com',
    name: 'Ada',
    role: 'developer',
    groupIds: [groupId()],
    canAudit: false,
    credentialId: commandId(),
    ...changes,
  };
}

export function createGroup(changes: Partial<CreateGroup> = {}): CreateGroup {
  return {
    type: 'CreateGroup',
    groupId: groupId(),
    name: 'Reports',
    color: '#112233',
    icon: 'folder',
    ...changes,
  };
}

/** An encrypted value that no key can decrypt. */
export const sealed: Sealed = {
  keyId: commandId(),
  nonce: 'bm9uY2Vub25jZQ==',
  ciphertext: 'Y2lwaGVydGV4dA==',
};

export function setSecret(changes: Partial<SetSecret> = {}): SetSecret {
  return {
    type: 'SetSecret',
    scriptId: scriptId(),
    name: 'TOKEN',
    version: 1,
    sealed,
    ...changes,
  };
}

export function issueToken(changes: Partial<IssueToken> = {}): IssueToken {
  return {
    type: 'IssueToken',
    tokenId: tokenId(),
    userId: userId(),
    name: 'deploy',
    scopes: ['scripts:read', 'runs:write'],
    tokenHash: 'a'.repeat(64),
    expiresAt: null,
    ...changes,
  };
}

export function noteRelease(changes: Partial<NoteRelease> = {}): NoteRelease {
  return {
    type: 'NoteRelease',
    version: '0.1.14',
    notes: 'Better.',
    releasedAt: '2026-11-20T00:00:00.000Z',
    expiresAt: '2027-11-20T00:00:00.000Z',
    minimumVersion: '0.1.13',
    sizeBytes: 1000,
    sha256: 'c'.repeat(64),
    ...changes,
  };
}

export function startUpdate(changes: Partial<StartUpdate> = {}): StartUpdate {
  return {
    type: 'StartUpdate',
    updateId: updateId(),
    kind: 'update',
    from: '0.1.13',
    to: '0.1.14',
    ...changes,
  };
}

/** An hourly schedule. */
export const hourly: ScheduleDefinition = {
  kind: 'cron',
  cron: '@hourly',
  intervalSeconds: null,
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  enabled: true,
  catchUp: 'last',
  maxLatenessSeconds: 3600,
  overlap: 'skip',
  paramsSha256: null,
};

export function createSchedule(changes: Partial<CreateSchedule> = {}): CreateSchedule {
  return {
    type: 'CreateSchedule',
    scheduleId: scheduleId(),
    scriptId: scriptId(),
    definition: hourly,
    ...changes,
  };
}

export function createWebhook(changes: Partial<CreateWebhook> = {}): CreateWebhook {
  return {
    type: 'CreateWebhook',
    webhookId: webhookId(),
    scriptId: scriptId(),
    name: 'push',
    enabled: true,
    whenBusy: 'refuse',
    rateLimitPerMinute: 60,
    tokenHash: 'a'.repeat(64),
    ...changes,
  };
}

/** A secret with which webhook requests are signed. */
export function webhookSigning(version = 1): WebhookSigning {
  return { version, sealed };
}

/** A chain that starts the second script after each successful run of the first script. */
export function createChain(changes: Partial<CreateChain> = {}): CreateChain {
  return {
    type: 'CreateChain',
    chainId: chainId(),
    sourceScriptId: scriptId(),
    targetScriptId: scriptId(2),
    on: 'success',
    enabled: true,
    whenBusy: 'queue',
    paramsSha256: null,
    ...changes,
  };
}

export function postNotice(changes: Partial<PostNotice> = {}): PostNotice {
  return {
    type: 'PostNotice',
    noticeId: noticeId(),
    runId: runId(),
    scriptId: scriptId(),
    level: 'info',
    message: 'Healthy.',
    ...changes,
  };
}

export function recordRefusal(changes: Partial<RecordRefusal> = {}): RecordRefusal {
  return {
    type: 'RecordRefusal',
    refusalId: refusalId(),
    operation: 'POST /api/v1/scripts/{id}/run',
    resource: `script-${scriptId()}`,
    code: 'forbidden',
    status: 403,
    count: 1,
    ...changes,
  };
}

export function recordDisclosure(changes: Partial<RecordDisclosure> = {}): RecordDisclosure {
  return {
    type: 'RecordDisclosure',
    disclosureId: disclosureId(),
    action: 'script_exported',
    resource: `script-${scriptId()}`,
    detail: null,
    ...changes,
  };
}

export function createChannel(changes: Partial<CreateChannel> = {}): CreateChannel {
  return {
    type: 'CreateChannel',
    channelId: channelId(),
    name: 'on call',
    enabled: true,
    config: { kind: 'webhook', url: 'https://example.com/hook' },
    sealed: null,
    ...changes,
  };
}

export function createIdentityProvider(
  changes: Partial<CreateIdentityProvider> = {},
): CreateIdentityProvider {
  return {
    type: 'CreateIdentityProvider',
    identityProviderId: identityProviderId(),
    slug: 'acme',
    name: 'Acme',
    enabled: true,
    issuer: 'https://id.example.com',
    clientId: 'orchestrator',
    scopes: ['profile', 'email'],
    linkAccounts: 'verified_email',
    createAccounts: true,
    trustEmails: false,
    emailDomains: [],
    rules: [],
    defaultRole: 'viewer',
    syncAccess: true,
    sealed: null,
    ...changes,
  };
}

export function createRepository(changes: Partial<CreateRepository> = {}): CreateRepository {
  return {
    type: 'CreateRepository',
    repositoryId: repositoryId(),
    name: 'Jobs',
    url: 'https://git.example.com/team/jobs.git',
    branch: 'main',
    folder: '',
    pollSeconds: 60,
    mode: 'read',
    credential: null,
    hook: { tokenHash: 'a'.repeat(64), sealed },
    ...changes,
  };
}

export function commitFacts(changes: Partial<CommitFacts> = {}): CommitFacts {
  const hash = 'c'.repeat(40);
  return {
    hash,
    author: 'Ada <ada@example.com>',
    committedAt: '2026-01-01T00:00:00.000Z',
    subject: 'Add a report',
    url: `https://git.example.com/team/jobs/commit/${hash}`,
    ...changes,
  };
}

export function scriptSource(): ScriptSource {
  const { hash: commit, url } = commitFacts();
  return { repositoryId: repositoryId(), path: 'scripts/report', commit, url };
}

/** A script from a repository. Changes to this script are pushed as commits. */
export function writtenSource(changes: Partial<WriteBack> = {}): ScriptSource {
  return { ...scriptSource(), writeBack: { version: 1, pushed: null, conflict: null, ...changes } };
}

export function createSecretStore(changes: Partial<CreateSecretStore> = {}): CreateSecretStore {
  return {
    type: 'CreateSecretStore',
    secretStoreId: secretStoreId(),
    name: 'Mounted secrets',
    groupIds: null,
    connection: { type: 'files', folder: 'mounted' },
    sealed: null,
    ...changes,
  };
}

export function backupContent(changes: Partial<BackupContent> = {}): BackupContent {
  return {
    kind: 'manual',
    position: 7,
    events: 7,
    sizeBytes: 10_240,
    sha256: 'a'.repeat(64),
    encrypted: false,
    version: '0.1.13',
    createdAt: '2026-01-01T00:00:00.000Z',
    finishedAt: '2026-01-01T00:00:05.000Z',
    ...changes,
  };
}

export function createRule(changes: Partial<RuleSettings> = {}, number = 1): CreateRule {
  return {
    type: 'CreateRule',
    ruleId: ruleId(number),
    settings: {
      name: 'failures',
      enabled: true,
      on: ['failed'],
      failedTimes: 3,
      scriptIds: [],
      groupIds: [],
      channelIds: [channelId()],
      ...changes,
    },
  };
}

export function queueDelivery(changes: Partial<QueueDelivery> = {}): QueueDelivery {
  return {
    type: 'QueueDelivery',
    deliveryId: deliveryId(),
    channelId: channelId(),
    kind: 'webhook',
    ruleId: ruleId(),
    told: {
      on: 'failed',
      level: 'error',
      message: 'The run failed with exit code 1.',
      at: '2026-01-01T00:00:00.000Z',
      script: { scriptId: scriptId(), name: 'Report', groupId: groupId() },
      runId: runId(),
    },
    ...changes,
  };
}
