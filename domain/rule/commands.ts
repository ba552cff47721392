import type { RuleId } from '#domain/kernel/ids.ts';
import type { RuleCreated, RuleDeleted } from './events.ts';
import type { RuleSettings } from './rule.ts';

export type CreateRule = RuleCreated['data'] & { readonly type: 'CreateRule' };

export interface ChangeRule {
  readonly type: 'ChangeRule';
  readonly ruleId: RuleId;
  /** The settings to change. Settings that are absent keep their values. */
  readonly changes: Partial<RuleSettings>;
}

export type DeleteRule = RuleDeleted['data'] & { readonly type: 'DeleteRule' };

export type RuleCommand = CreateRule | ChangeRule | DeleteRule;
