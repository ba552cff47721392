/** Events of a notification rule, in streams `rule-<id>`. Permanent: never rename a type or change the meaning of
 *  a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { RuleId } from '#domain/kernel/ids.ts';
import type { RuleSettings } from './rule.ts';

export type RuleCreated = DomainEvent<
  'RuleCreated',
  { readonly ruleId: RuleId; readonly settings: RuleSettings }
>;

/** The rule was changed. Contains the complete new rule. */
export type RuleChanged = DomainEvent<'RuleChanged', RuleCreated['data']>;

export type RuleDeleted = DomainEvent<'RuleDeleted', { readonly ruleId: RuleId }>;

export type RuleEvent = RuleCreated | RuleChanged | RuleDeleted;
