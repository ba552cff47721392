import type { Aggregate, DecisionReads } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import { newNameProblem } from '#domain/kernel/names.ts';
import type { RuleCommand } from './commands.ts';
import type { RuleEvent } from './events.ts';
import type { RuleSettings } from './rule.ts';
import { evolveRule, initialRule, type RuleState } from './state.ts';

export interface RuleFacts {
  /** A message about the first resource that the rule refers to but that does not exist. `undefined` if all
   *  resources exist. */
  readonly missing: string | undefined;
}

export function decideRule(
  state: RuleState,
  command: RuleCommand,
  { missing }: RuleFacts,
): Decision<RuleEvent> {
  const { ruleId } = command;
  if (command.type === 'CreateRule') {
    if (state.status !== 'absent') return accept();
    const unusable = newNameProblem('name', command.settings.name) ?? missing;
    if (unusable !== undefined) return refuse('validation_failed', unusable);
    return accept({ type: 'RuleCreated', data: { ruleId, settings: command.settings } });
  }
  if (command.type === 'DeleteRule' && state.status === 'deleted') return accept();
  if (state.status !== 'there') return refuse('not_found', 'Rule not found.');
  switch (command.type) {
    case 'ChangeRule': {
      const settings = { ...state.settings, ...command.changes };
      if (isSameJson(settings, state.settings)) return accept();
      const unusable = newNameProblem('name', settings.name, state.settings.name) ?? missing;
      if (unusable !== undefined) return refuse('validation_failed', unusable);
      return accept({ type: 'RuleChanged', data: { ruleId, settings } });
    }
    case 'DeleteRule':
      return accept({ type: 'RuleDeleted', data: { ruleId } });
  }
}

const wantedBy = (command: RuleCommand): Partial<RuleSettings> => {
  if (command.type === 'DeleteRule') return {};
  return command.type === 'CreateRule' ? command.settings : command.changes;
};

async function missingOf(
  { channelIds = [], groupIds = [], scriptIds = [] }: Partial<RuleSettings>,
  reads: DecisionReads,
): Promise<string | undefined> {
  for (const id of channelIds) {
    if (!(await reads.channelExists(id))) return `Channel ${id} not found.`;
  }
  for (const id of groupIds) {
    if (!(await reads.groupExists(id))) return `Group ${id} not found.`;
  }
  for (const id of scriptIds) {
    if ((await reads.script(id)) === undefined) return `Script ${id} not found.`;
  }
  return undefined;
}

export const ruleAggregate: Aggregate<RuleState, RuleCommand, RuleEvent, RuleFacts> = {
  streamType: 'rule',
  commands: { CreateRule: true, ChangeRule: true, DeleteRule: true },
  events: { RuleCreated: true, RuleChanged: true, RuleDeleted: true },
  initial: initialRule,
  evolve: evolveRule,
  stateVersion: 1,
  decide: decideRule,
  streamOf: (command) => `rule-${command.ruleId}`,
  // Locks the channels of the rule. Either the deletion of a channel comes first and the rule is refused, or the rule
  // is saved first and the deletion is refused.
  guards: (command) => (wantedBy(command).channelIds ?? []).map((id) => `channel-${id}` as const),
  readFacts: async (command, reads) => ({ missing: await missingOf(wantedBy(command), reads) }),
};
