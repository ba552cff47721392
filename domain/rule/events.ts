/** Facts of a notification rule, in streams `rule-<id>`. Stored for good: a type is never renamed and a field
 *  never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { RuleId } from '#domain/kernel/ids.ts';
import type { RuleSettings } from './rule.ts';

export type RuleCreated = DomainEvent<
  'RuleCreated',
  { readonly ruleId: RuleId; readonly settings: RuleSettings }
>;

/** All of it, as it is from now on. */
export type RuleChanged = DomainEvent<'RuleChanged', RuleCreated['data']>;

export type RuleDeleted = DomainEvent<'RuleDeleted', { readonly ruleId: RuleId }>;

export type RuleEvent = RuleCreated | RuleChanged | RuleDeleted;
