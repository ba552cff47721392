import type { Recorded } from '#domain/aggregates.ts';
import type { RuleEvent } from '#domain/rule/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { ruleColumns, type RulesTable } from './table.ts';

/** Builds the notification rules. */
export const rulesProjection: Projection = rowProjection<RulesTable, Recorded<RuleEvent>>({
  name: 'notification_rules',
  version: 1,
  table: 'notification_rules',
  key: 'rule_id',
  columns: ruleColumns,
  handles: ['RuleCreated', 'RuleChanged', 'RuleDeleted'],
  keyOf: (event) => event.data.ruleId,
  step: (row, event) => {
    switch (event.type) {
      case 'RuleCreated':
      case 'RuleChanged': {
        const { ruleId, settings } = event.data;
        const created_at = row?.created_at ?? event.recordedAt;
        return { rule_id: ruleId, settings, created_at, updated_at: event.recordedAt };
      }
      case 'RuleDeleted':
        return undefined;
    }
  },
});
