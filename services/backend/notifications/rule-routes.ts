/** Manages notification rules. */
import {
  mustParse,
  parseChannelId,
  parseGroupId,
  parseRuleId,
  parseScriptId,
  type RuleId,
} from '#domain/kernel/ids.ts';
import type { RuleSettings } from '#domain/rule/rule.ts';
import { findRule, listRules } from '#projections/rules/queries.ts';
import Type, { type Static } from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { noContent, writtenReply } from '../http/outcome.ts';
import { defaultLimit, keyOf, pageReply } from '../http/paging.ts';
import { isProblem, notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { examples, pageQuery, pathParameters } from '../http/schema.ts';
import type { Services } from '../services.ts';
import { NewRule, Rule, RuleChange, RulePage } from './rule-schema.ts';
import { ruleJson } from './view.ts';

const tag = 'Notifications';
const path = '/api/v1/notifications/rules';
const access = { right: 'notifications.manage' } as const;
const parameters = { rule_id: pathParameters.ruleId };

const list = operation({
  method: 'get',
  path,
  operationId: 'listRules',
  summary: 'List notification rules, newest first',
  tag,
  access,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  responses: { 200: { description: 'One page of the list.', schema: RulePage, headers: ['Link'] } },
  handle: async ({ query: { limit, cursor }, url }, { readModels }) => {
    const request = { list: 'rules', filter: null, url, limit, cursor };
    const after = keyOf(request, parseRuleId);
    if (isProblem(after)) return after;
    const rows = await listRules(readModels, after.key, (limit ?? defaultLimit) + 1);
    return pageReply(request, rows, (row) => row.rule_id, ruleJson);
  },
});

const create = operation({
  method: 'post',
  path,
  operationId: 'createRule',
  summary: 'Create a notification rule',
  description:
    'Event types: a run `failed`, `failed_n_times` in a row, `recovered` after a failure, ended ' +
    'with `success`, or was `stopped`; a due time was `missed`; or a script sent a `message`. If ' +
    'a run matches several event types of a rule, the rule sends one notification.',
  tag,
  access,
  creates: true,
  body: {
    schema: NewRule,
    example: { name: 'failures', on: ['failed'], channel_ids: [examples.channelId] },
  },
  responses: {
    201: {
      description: 'The rule was created.',
      schema: Rule,
      headers: ['Location', 'Orch-Position'],
    },
  },
  handle: async ({ body, context }, services) => {
    const settings = {
      enabled: true,
      failedTimes: 3,
      scriptIds: [],
      groupIds: [],
      ...settingsOf(body),
    } as unknown as RuleSettings;
    const ruleId = mustParse(parseRuleId, services.ids.next());
    const command = { type: 'CreateRule', ruleId, settings } as const;
    const outcome = await services.commands.execute(command, context);
    return await writtenReply(outcome, parseRuleId, shown(services), path);
  },
});

const get = operation({
  method: 'get',
  path: `${path}/{rule_id}`,
  operationId: 'getRule',
  summary: 'Read a notification rule',
  tag,
  access,
  parameters,
  responses: { 200: { description: 'The rule.', schema: Rule } },
  handle: async ({ parameters: { rule_id: id } }, { readModels }) => {
    const row = await findRule(readModels, id);
    return row === undefined ? notFound : json(200, ruleJson(row));
  },
});

const change = operation({
  method: 'patch',
  path: `${path}/{rule_id}`,
  operationId: 'changeRule',
  summary: 'Change a notification rule',
  tag,
  access,
  parameters,
  body: {
    schema: RuleChange,
    example: { enabled: false },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: {
    200: { description: 'The updated resource.', schema: Rule, headers: ['Orch-Position'] },
  },
  handle: async ({ parameters: { rule_id: ruleId }, body, context }, services) => {
    const command = { type: 'ChangeRule', ruleId, changes: settingsOf(body) } as const;
    const outcome = await services.commands.execute(command, context);
    return await writtenReply(outcome, parseRuleId, shown(services));
  },
});

const remove = operation({
  method: 'delete',
  path: `${path}/{rule_id}`,
  operationId: 'deleteRule',
  summary: 'Delete a notification rule',
  tag,
  access,
  parameters,
  responses: { 204: { description: 'The rule was deleted.', headers: ['Orch-Position'] } },
  handle: async ({ parameters: { rule_id: ruleId }, context }, { commands, readModels }) => {
    if ((await findRule(readModels, ruleId)) === undefined) return notFound;
    return noContent(await commands.execute({ type: 'DeleteRule', ruleId }, context));
  },
});

function settingsOf(body: Static<typeof RuleChange>): Partial<RuleSettings> {
  const { name, enabled, on, failed_times: failedTimes } = body;
  const { script_ids: scripts, group_ids: groups, channel_ids: channels } = body;
  return {
    ...(name !== undefined && { name }),
    ...(enabled !== undefined && { enabled }),
    ...(on !== undefined && { on }),
    ...(failedTimes !== undefined && { failedTimes }),
    ...(scripts && { scriptIds: scripts.map((id) => mustParse(parseScriptId, id)) }),
    ...(groups && { groupIds: groups.map((id) => mustParse(parseGroupId, id)) }),
    ...(channels && { channelIds: channels.map((id) => mustParse(parseChannelId, id)) }),
  };
}

const shown =
  ({ readModels }: Services) =>
  async (id: RuleId) => {
    const row = await findRule(readModels, id);
    return row && ruleJson(row);
  };

export const ruleOperations: readonly Operation[] = [list, create, get, change, remove];
