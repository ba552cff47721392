/** Notification rules in a configuration. */
import { configuredRules } from '#projections/configuration/queries.ts';
import {
  mustParse,
  parseChannelId,
  parseGroupId,
  parseRuleId,
  parseScriptId,
} from '#domain/kernel/ids.ts';
import type { RuleSettings } from '#domain/rule/rule.ts';
import { ruleSettingsJson } from '../../notifications/view.ts';
import type { Given, Kind, Wanted } from '../kind.ts';

type Rule = Given<'rules'>;

const usual = { enabled: true, failedTimes: 3, scriptIds: [], groupIds: [] };

export const ruleKind: Kind<'rules'> = {
  kind: 'rule',
  section: 'rules',
  stream: 'rule',
  present: async ({ services: { readModels } }) => {
    const rows = await configuredRules(readModels);
    return rows.map(({ rule_id: id, settings }) => {
      const ruleId = mustParse(parseRuleId, id);
      return {
        item: itemOf(id, settings),
        hidden: false,
        change: (given): Promise<Wanted> => {
          const changes = settingsOf(given, settings);
          return Promise.resolve({
            item: itemOf(id, changes),
            commands: () => Promise.resolve([{ type: 'ChangeRule', ruleId, changes }]),
          });
        },
        remove: () => ({ type: 'DeleteRule', ruleId }),
      };
    });
  },
  make: (given) => {
    const settings = settingsOf(given, usual);
    const ruleId = mustParse(parseRuleId, given.id);
    return Promise.resolve({
      item: itemOf(given.id, settings),
      commands: () => Promise.resolve([{ type: 'CreateRule', ruleId, settings }]),
    });
  },
};

function settingsOf(
  given: Rule,
  before: Omit<RuleSettings, 'name' | 'on' | 'channelIds'>,
): RuleSettings {
  return {
    name: given.name,
    enabled: given.enabled ?? before.enabled,
    on: given.on,
    failedTimes: given.failed_times ?? before.failedTimes,
    scriptIds: given.script_ids?.map((id) => mustParse(parseScriptId, id)) ?? before.scriptIds,
    groupIds: given.group_ids?.map((id) => mustParse(parseGroupId, id)) ?? before.groupIds,
    channelIds: given.channel_ids.map((id) => mustParse(parseChannelId, id)),
  };
}

function itemOf(id: string, settings: RuleSettings) {
  return { id, ...ruleSettingsJson(settings) };
}
