/** Formats channels, rules and deliveries for API responses. */
import type { ChannelConfig } from '#domain/channel/channel.ts';
import type { RuleSettings } from '#domain/rule/rule.ts';
import type { ChannelsTable } from '#projections/channels/table.ts';
import type { DeliveriesTable } from '#projections/deliveries/table.ts';
import type { RulesTable } from '#projections/rules/table.ts';
import { secretsOf } from './channel-config.ts';

/** Formats a rule's settings for API responses. */
export function ruleSettingsJson(settings: RuleSettings) {
  return {
    name: settings.name,
    enabled: settings.enabled,
    on: settings.on,
    failed_times: settings.failedTimes,
    script_ids: settings.scriptIds,
    group_ids: settings.groupIds,
    channel_ids: settings.channelIds,
  };
}

export function ruleJson({ rule_id: id, settings, created_at, updated_at }: RulesTable) {
  return { id, ...ruleSettingsJson(settings), created_at, updated_at };
}

/** The public fields of a configuration. */
export function configJson(config: ChannelConfig): object {
  switch (config.kind) {
    case 'email': {
      const { kind: _, ...shown } = config;
      return shown;
    }
    case 'messaging':
      return config.service === 'telegram'
        ? { service: config.service, chat_id: config.chatId, server: config.server }
        : { service: config.service };
    case 'webhook':
      return { url: config.url };
    case 'in_app':
      return { group_id: config.groupId };
  }
}

export function channelJson(row: ChannelsTable) {
  return {
    id: row.channel_id,
    name: row.name,
    kind: row.config.kind,
    enabled: row.enabled,
    config: configJson(row.config),
    secrets: secretsOf(row.config),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function deliveryJson(row: DeliveriesTable) {
  const { on, level, message, script, runId } = row.told;
  return {
    id: row.delivery_id,
    channel_id: row.channel_id,
    rule_id: row.rule_id,
    status: row.status,
    on,
    level,
    message,
    script_id: script?.scriptId ?? null,
    script_name: script?.name ?? null,
    run_id: runId,
    attempts: row.attempts,
    last_error: row.last_error,
    queued_at: row.queued_at,
    next_attempt_at: row.next_attempt_at,
    ended_at: row.ended_at,
  };
}
