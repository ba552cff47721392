/** Fixed IDs, numbered from 1 for each kind. IDs with higher numbers sort later. */
import {
  mustParse,
  parseChainId,
  parseChannelId,
  parseDeliveryId,
  parseCommandId,
  parseDisclosureId,
  parseEventId,
  parseGroupId,
  parseIdentityProviderId,
  parseSecretStoreId,
  parseNoticeId,
  parseRefusalId,
  parseBackupId,
  parseErrorGroupId,
  parseCalendarId,
  parseChangeId,
  parsePoolId,
  parseRepositoryId,
  parseRuleId,
  parseRunId,
  parseScriptId,
  parseScheduleId,
  parseSessionId,
  parseTokenId,
  parseUpdateId,
  parseUserId,
  parseWebhookId,
} from '#domain/kernel/ids.ts';

function numbered<Id>(kind: string, parse: (text: string) => Id | undefined) {
  return (number = 1): Id =>
    mustParse(parse, `0000000${kind}-0000-7000-8000-${number.toString(16).padStart(12, '0')}`);
}

export const scriptId = numbered('1', parseScriptId);
export const runId = numbered('2', parseRunId);
export const userId = numbered('3', parseUserId);
export const groupId = numbered('4', parseGroupId);
export const sessionId = numbered('5', parseSessionId);
export const noticeId = numbered('9', parseNoticeId);
export const refusalId = numbered('6', parseRefusalId);
export const tokenId = numbered('a', parseTokenId);
export const scheduleId = numbered('b', parseScheduleId);
export const webhookId = numbered('c', parseWebhookId);
export const channelId = numbered('f', parseChannelId);
export const secretStoreId = numbered('3', parseSecretStoreId);
export const identityProviderId = numbered('2', parseIdentityProviderId);
export const errorGroupId = numbered('e', parseErrorGroupId);
export const repositoryId = numbered('3', parseRepositoryId);
export const calendarId = numbered('2', parseCalendarId);
export const changeId = numbered('0', parseChangeId);
export const poolId = numbered('2', parsePoolId);
export const ruleId = numbered('0', parseRuleId);
export const backupId = numbered('6', parseBackupId);
export const deliveryId = numbered('5', parseDeliveryId);
export const chainId = numbered('d', parseChainId);
export const disclosureId = numbered('e', parseDisclosureId);
export const commandId = numbered('7', parseCommandId);
export const eventId = numbered('8', parseEventId);
export const updateId = numbered('1', parseUpdateId);
