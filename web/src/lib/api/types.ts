import type { components, operations } from './schema.d.ts';

type Schemas = components['schemas'];

export type SessionTokens = Schemas['SessionTokens'];

export type Script = Schemas['Script'];
/** A script as the script list returns it. */
export type ListedScript = Schemas['ListedScript'];
export type RecentRun = Schemas['RecentRun'];

export type Run = Schemas['Run'];
export type RunStatus = Run['status'];
export type Approval = Schemas['Approval'];
export type ChangeDiff = Schemas['ChangeDiff'];
export type ErrorGroup = Schemas['ErrorGroup'];
export type ErrorGroupChange = Schemas['ErrorGroupChange'];
export type ErrorGroupStatus = ErrorGroup['status'];
export type ErrorCause = Schemas['ErrorCause'];
export type ErrorFrame = Schemas['ErrorFrame'];
export type TriggerType = Run['trigger_type'];
export type FailureReason = NonNullable<Run['failure_reason']>;
export type RunSample = Schemas['RunSample'];
export type RunReasons = Schemas['RunReasons'];
export type RunCauses = Schemas['RunCauses'];
export type RunChanges = Schemas['RunChanges'];
export type FileDiff = Schemas['FileDiff'];
export type RunEvent = Schemas['Event'];
export type Artifact = Schemas['Artifact'];
export type Environment = Schemas['Environment'];
export type RunProgress = NonNullable<Run['progress']>;
export type RunSpan = Schemas['RunSpan'];
export type RelatedRun = Schemas['RelatedRun'];
export type LogLine = Schemas['LogLine'];
export type LogStream = LogLine['stream'];
export type LogLevel = NonNullable<LogLine['level']>;
export type Template = Schemas['Template'];
export type NotifiableEvent = Schemas['Happening'];
/** The packages that are installed for a script version. */
export type ScriptEnvironment = Schemas['Environment'];
export type FileEntry = Schemas['FileEntry'];
/** A frame of the `/ws` change feed, sent as JSON text. */
export type FeedFrame =
  | { type: 'resync' | 'heartbeat'; position: number }
  | { type: 'status'; run: Run }
  | { type: 'progress'; run_id: string; progress: RunProgress }
  | { type: 'script'; script: Script }
  | { type: 'script_deleted'; script_id: string }
  | {
      type: 'changed';
      resource: 'schedule' | 'webhook' | 'chain' | 'secrets' | 'notification' | 'user' | 'system';
      id: string;
      script_id: string | null;
    };
export type DashboardOverview = Schemas['DashboardOverview'];
export type DashboardNow = Schemas['DashboardNow'];
export type DashboardFires = Schemas['DashboardFires'];
export type UsualDuration = Schemas['UsualDuration'];
type TimeseriesQuery = NonNullable<operations['dashboardTimeseries']['parameters']['query']>;
export type MetricName = NonNullable<TimeseriesQuery['metric']>;
export type TimeseriesBucket = NonNullable<TimeseriesQuery['bucket']>;
export type Timeseries = Schemas['Timeseries'];
export type Schedule = Schemas['Schedule'];
export type NewSchedule = Schemas['ScheduleInput'];
export type ScheduleChanges = Schemas['ScheduleChanges'];
export type ScheduleTiming = Omit<
  Schemas['SchedulePreviewRequest'],
  'count' | 'from' | 'script_id' | 'schedule_id'
>;
export type SchedulePreview = Schemas['SchedulePreview'];
export type DueTime = Schemas['DueTime'];
export type Occurrence = Schemas['Occurrence'];
export type Webhook = Schemas['Webhook'];
export type ShownWebhook = Schemas['ShownWebhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookDeliveryContent = Schemas['WebhookDeliveryContent'];
export type WebhookChange = Schemas['WebhookChange'];
export type HookAnswer = Schemas['HookAnswer'];
export type Chain = Schemas['Chain'];
export type NewChain = Schemas['ChainInput'];
export type ChainChange = Schemas['ChainChange'];
export type ChainOccurrence = Schemas['ChainOccurrence'];
export type Notification = Schemas['Notification'];
export type NotificationPage = Schemas['NotificationPage'];
export type Backup = Schemas['Backup'];
export type BackupSchedule = Schemas['BackupSchedule'];
export type BackupScheduleChange = Schemas['BackupScheduleChange'];
export type SecretStore = Schemas['SecretStore'];
export type SecretStoreInput = Schemas['SecretStoreInput'];
export type SecretStoreChange = Schemas['SecretStoreChange'];
export type SecretStoreTest = Schemas['SecretStoreTest'];
export type SecretStoreTestResult = Schemas['SecretStoreTestResult'];
export type IdentityProvider = Schemas['IdentityProvider'];
export type NewIdentityProvider = Schemas['IdentityProviderInput'];
export type IdentityProviderChange = Schemas['IdentityProviderChange'];
export type ClaimRule = Schemas['ClaimRule'];
export type ClaimsTrial = Schemas['ClaimsTrial'];
export type ClaimsTrialResult = Schemas['ClaimsTrialResult'];
export type SignInProvider = Schemas['SignInProvider'];
export type Channel = Schemas['Channel'];
export type NewChannel = Schemas['ChannelInput'];
export type ShownChannel = Schemas['ShownChannel'];
export type ChannelChange = Schemas['ChannelChange'];
export type NotificationRule = Schemas['NotificationRule'];
export type NewNotificationRule = Schemas['NotificationRuleInput'];
export type NotificationDelivery = Schemas['NotificationDelivery'];
export type Secret = Schemas['Secret'];
export type SecondFactor = Schemas['SecondFactor'];
export type Passkey = Schemas['Passkey'];
export type PasskeyChallenge = Schemas['PasskeyChallenge'];
export type PasskeyOptions = Schemas['PasskeyOptions'];
export type PasskeySignature = NonNullable<Schemas['Credentials']['passkey']>;
export type NewCredential = Schemas['PasskeyInput']['credential'];
export type FactorKey = Schemas['FactorKey'];
export type ApiToken = Schemas['ApiToken'];
export type NewApiToken = Schemas['ApiTokenInput'];
export type ShownApiToken = Schemas['ShownApiToken'];
export type Scope = Schemas['Scope'];
/** A user session. */
export type SignIn = Schemas['Session'];
export type User = Schemas['User'];
export type NewUser = Schemas['UserInput'];
export type UserChange = Schemas['UserChange'];
export type Role = Schemas['Role'];
export type Retention = Schemas['Retention'];
export type Runtime = Schemas['Runtime'];
export type RetentionChanges = Schemas['RetentionChanges'];
export type Update = Schemas['Update'];
export type Updates = Schemas['Updates'];
export type ConfigurationImport = Schemas['ConfigurationImport'];
export type AuditEntry = Schemas['AuditEntry'];
export type AuditValues = Schemas['AuditValues'];
export type AuditDensity = Schemas['AuditDensity'];
export type Replay = Schemas['Replay'];
export type ReplayDifference = Schemas['ReplayDifference'];
export type ScriptDiff = Schemas['ScriptDiff'];
export type AuditVerification = Schemas['AuditVerification'];
type AuditQuery = NonNullable<operations['listAudit']['parameters']['query']>;
/** Audit trail filters. An absent filter matches all entries. */
export type AuditFilter = Pick<
  AuditQuery,
  'actor' | 'people' | 'action' | 'q' | 'resource' | 'outcome' | 'from' | 'to' | 'position'
>;
export type McpInfo = Schemas['McpInfo'];
export type Setting = Schemas['Setting'];
export type Settings = Schemas['Settings'];
export type SystemInfo = Schemas['SystemInfo'];
export type Group = Schemas['Group'];
export type GroupLook = Pick<Group, 'name' | 'color' | 'icon'>;
export type Me = Schemas['Me'];
export type Problem = Schemas['Problem'];

/** A page of a list. On the last page, `next_cursor` is null. */
export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

export type Repository = Schemas['Repository'];
export type AddedRepository = Schemas['AddedRepository'];
export type RepositoryInput = Schemas['RepositoryInput'];
export type RepositoryChange = Schemas['RepositoryChange'];
export type RepositoryHook = Schemas['RepositoryHook'];
export type RepositorySync = Schemas['RepositorySync'];
export type SyncedCommit = Schemas['SyncedCommit'];
