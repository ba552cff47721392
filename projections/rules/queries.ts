import { mustParse, parseChannelId, parseGroupId, parseRuleId } from '#domain/kernel/ids.ts';
import type { GroupId, RuleId, ScriptId } from '#domain/kernel/ids.ts';
import type { ChannelKind } from '#domain/channel/channel.ts';
import type { Listeners, ListeningRule } from '#domain/reactions/reaction.ts';
import type { RuleSettings } from '#domain/rule/rule.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import type { RulesTable } from './table.ts';

/** Returns a notification rule, or `undefined` if it does not exist. */
export async function findRule(db: ReadModels, ruleId: RuleId): Promise<RulesTable | undefined> {
  return await db
    .selectFrom('notification_rules')
    .selectAll()
    .where('rule_id', '=', ruleId)
    .executeTakeFirst();
}

/** Lists rules, newest first, starting after `after`. Returns at most `limit` rules. */
export async function listRules(
  db: ReadModels,
  after: RuleId | undefined,
  limit: number,
): Promise<readonly RulesTable[]> {
  let query = db.selectFrom('notification_rules').selectAll().orderBy('rule_id', 'desc');
  if (after !== undefined) query = query.where('rule_id', '<', after);
  return await query.limit(limit).execute();
}

/** Returns the rules that apply to a script and were created before `before`. */
export async function listenersOf(
  db: ReadModels,
  scriptId: ScriptId,
  before: Date,
): Promise<Listeners | undefined> {
  const rows = await listening(db, scriptId, before);
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    scriptName: first.script_name,
    groupId: mustParse(parseGroupId, first.group_id),
    rules: rows.map(ruleOf),
  };
}

/** Returns the rules that apply to an entire group and were created before `before`. Rules for single scripts are
 *  excluded. */
export async function listenersOfGroup(
  db: ReadModels,
  groupId: GroupId,
  before: Date,
): Promise<readonly ListeningRule[]> {
  return (await listeningToGroup(db, before, groupId)).map(ruleOf);
}

/** Returns the rules that apply to the platform and were created before `before`. */
export async function listenersOfPlatform(
  db: ReadModels,
  before: Date,
): Promise<readonly ListeningRule[]> {
  return (await listeningToAll(db, before)).map(ruleOf);
}

function ruleOf({ rule_id, settings, channels }: RuleRow): ListeningRule {
  return {
    ruleId: mustParse(parseRuleId, rule_id),
    on: settings.on,
    failedTimes: settings.failedTimes,
    channels: channels.map((one) => ({
      channelId: mustParse(parseChannelId, one.channel_id),
      kind: one.kind,
    })),
  };
}

interface ListeningRow extends RuleRow {
  readonly script_name: string;
  readonly group_id: string;
}

interface RuleRow {
  readonly rule_id: string;
  readonly settings: RuleSettings;
  readonly channels: readonly { readonly channel_id: string; readonly kind: ChannelKind }[];
}

const withChannels = `LATERAL (
    SELECT jsonb_agg(jsonb_build_object('channel_id', channel_id, 'kind', config ->> 'kind')
      ORDER BY channel_id) AS channels
    FROM notification_channels
    WHERE settings -> 'channelIds' ? channel_id::text AND enabled AND NOT deleted) c`;
const forAll = `settings -> 'scriptIds' = '[]' AND settings -> 'groupIds' = '[]'`;

const listeningToGroup = statement<RuleRow>(`
  SELECT r.rule_id, r.settings, c.channels FROM notification_rules r, ${withChannels}
  WHERE (settings ->> 'enabled')::boolean AND r.created_at <= $1 AND c.channels IS NOT NULL
    AND (settings -> 'groupIds' ? $2::text OR (${forAll}))
  ORDER BY r.rule_id`);

const listeningToAll = statement<RuleRow>(`
  SELECT r.rule_id, r.settings, c.channels FROM notification_rules r, ${withChannels}
  WHERE (settings ->> 'enabled')::boolean AND r.created_at <= $1 AND c.channels IS NOT NULL AND ${forAll}
  ORDER BY r.rule_id`);

const listening = statement<ListeningRow>(`
  SELECT s.name AS script_name, s.group_id, r.rule_id, r.settings, c.channels
  FROM notification_rules r JOIN scripts s ON s.script_id = $1,
    ${withChannels}
  WHERE (settings ->> 'enabled')::boolean AND r.created_at <= $2 AND c.channels IS NOT NULL
    AND (settings -> 'scriptIds' ? $1::text OR settings -> 'groupIds' ? s.group_id::text
      OR (${forAll}))
  ORDER BY r.rule_id`);
