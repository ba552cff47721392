/** The identifiers of the domain. Each identifier is a UUID in text form, which is parsed once, where the platform
 *  receives it. */
import type { Brand } from './brand.ts';

export type ScriptId = Brand<string, 'ScriptId'>;
export type RunId = Brand<string, 'RunId'>;
export type UserId = Brand<string, 'UserId'>;
export type GroupId = Brand<string, 'GroupId'>;
export type ScheduleId = Brand<string, 'ScheduleId'>;
export type SessionId = Brand<string, 'SessionId'>;
export type NoticeId = Brand<string, 'NoticeId'>;
export type TokenId = Brand<string, 'TokenId'>;
export type ChannelId = Brand<string, 'ChannelId'>;
export type IdentityProviderId = Brand<string, 'IdentityProviderId'>;
export type SecretStoreId = Brand<string, 'SecretStoreId'>;
export type BackupId = Brand<string, 'BackupId'>;
export type RuleId = Brand<string, 'RuleId'>;
/** Identifies an error group: runs that failed with the same error in one group of scripts. */
export type ErrorGroupId = Brand<string, 'ErrorGroupId'>;
export type DeliveryId = Brand<string, 'DeliveryId'>;
export type WebhookId = Brand<string, 'WebhookId'>;
export type ChainId = Brand<string, 'ChainId'>;
/** Identifies a platform update. */
export type UpdateId = Brand<string, 'UpdateId'>;
/** Identifies an exception calendar, which schedules can use. */
export type CalendarId = Brand<string, 'CalendarId'>;
/** Identifies a requested change to a protected script. */
export type ChangeId = Brand<string, 'ChangeId'>;
export type PoolId = Brand<string, 'PoolId'>;
/** Identifies a Git repository. */
export type RepositoryId = Brand<string, 'RepositoryId'>;
export type RefusalId = Brand<string, 'RefusalId'>;
export type DisclosureId = Brand<string, 'DisclosureId'>;
/** Identifies a command. A client or a reaction chooses the ID, and the store executes each ID only once. */
export type CommandId = Brand<string, 'CommandId'>;
export type EventId = Brand<string, 'EventId'>;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function parseId<Id extends string>(text: string): Id | undefined {
  const lower = text.toLowerCase();
  return uuid.test(lower) ? (lower as Id) : undefined;
}

/** Each parser returns `undefined` for text that is not a UUID. */
export const parseScriptId = (text: string) => parseId<ScriptId>(text);
export const parseRunId = (text: string) => parseId<RunId>(text);
export const parseUserId = (text: string) => parseId<UserId>(text);
export const parseGroupId = (text: string) => parseId<GroupId>(text);
export const parseScheduleId = (text: string) => parseId<ScheduleId>(text);
export const parseSessionId = (text: string) => parseId<SessionId>(text);
export const parseNoticeId = (text: string) => parseId<NoticeId>(text);
export const parseTokenId = (text: string) => parseId<TokenId>(text);
export const parseChannelId = (text: string) => parseId<ChannelId>(text);
export const parseIdentityProviderId = (text: string) => parseId<IdentityProviderId>(text);
export const parseSecretStoreId = (text: string) => parseId<SecretStoreId>(text);
export const parseBackupId = (text: string) => parseId<BackupId>(text);
export const parseRuleId = (text: string) => parseId<RuleId>(text);
export const parseErrorGroupId = (text: string) => parseId<ErrorGroupId>(text);
export const parseDeliveryId = (text: string) => parseId<DeliveryId>(text);
export const parseWebhookId = (text: string) => parseId<WebhookId>(text);
export const parseChainId = (text: string) => parseId<ChainId>(text);
export const parseUpdateId = (text: string) => parseId<UpdateId>(text);
export const parseRepositoryId = (text: string) => parseId<RepositoryId>(text);
export const parseChangeId = (text: string) => parseId<ChangeId>(text);
export const parsePoolId = (text: string) => parseId<PoolId>(text);
export const parseCalendarId = (text: string) => parseId<CalendarId>(text);
export const parseRefusalId = (text: string) => parseId<RefusalId>(text);
export const parseDisclosureId = (text: string) => parseId<DisclosureId>(text);
export const parseCommandId = (text: string) => parseId<CommandId>(text);
export const parseEventId = (text: string) => parseId<EventId>(text);

/** Derives an ID from `id` with the timestamp of `at` (UUIDv7, RFC 9562), because lists are sorted by ID. The same
 *  arguments always result in the same ID. */
export function deriveTimeOrderedId(id: string, at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${id.slice(15)}`;
}

/** Parses an ID that this process created or read from its own storage. An invalid ID therefore indicates a bug. */
export function mustParse<Id>(parse: (text: string) => Id | undefined, text: string): Id {
  const id = parse(text);
  if (id === undefined) throw new Error(`not a valid ID: ${text}`);
  return id;
}
