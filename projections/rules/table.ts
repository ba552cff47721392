import type { RuleSettings } from '#domain/rule/rule.ts';
import type { Columns } from '../columns.ts';

export interface RulesTable {
  readonly rule_id: string;
  readonly stream_version: number;
  readonly settings: RuleSettings;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const ruleColumns: Columns<RulesTable> = {
  rule_id: 'uuid',
  stream_version: 'bigint',
  settings: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
};
