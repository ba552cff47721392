/** Every read model's table, as the query builder knows it. */
import type { AuditScriptsTable, AuditSpansTable, AuditTable } from './audit/table.ts';
import type { ChainAnswersTable, ChainsTable } from './chains/table.ts';
import type { FigurePlaceTable, FigureRunsTable, RunFiguresTable } from './figures/table.ts';
import type { GroupsTable } from './groups/table.ts';
import type { NoticesTable } from './notices/table.ts';
import type { RetentionTable } from './retention/table.ts';
import type { RunQueueTable } from './run-queue/table.ts';
import type { RunsTable } from './runs/table.ts';
import type { ScheduleOccurrencesTable, SchedulesTable } from './schedules/table.ts';
import type { ScriptFilesTable, ScriptsTable } from './scripts/table.ts';
import type { DataKeysTable, SecretsTable, SecretUsesTable } from './secrets/table.ts';
import type { SessionsTable } from './sessions/table.ts';
import type { TokensTable } from './tokens/table.ts';
import type { TriggerStateTable } from './trigger-state/table.ts';
import type { UsersTable } from './users/table.ts';
import type { WebhooksTable } from './webhooks/table.ts';

export interface Tables {
  readonly audit: AuditTable;
  readonly audit_scripts: AuditScriptsTable;
  readonly audit_spans: AuditSpansTable;
  readonly api_tokens: TokensTable;
  readonly chain_answers: ChainAnswersTable;
  readonly chains: ChainsTable;
  readonly data_keys: DataKeysTable;
  readonly figure_place: FigurePlaceTable;
  readonly figure_runs: FigureRunsTable;
  readonly groups: GroupsTable;
  readonly notices: NoticesTable;
  readonly retention: RetentionTable;
  readonly run_figures: RunFiguresTable;
  readonly run_queue: RunQueueTable;
  readonly runs: RunsTable;
  readonly schedule_occurrences: ScheduleOccurrencesTable;
  readonly schedules: SchedulesTable;
  readonly script_files: ScriptFilesTable;
  readonly scripts: ScriptsTable;
  readonly secret_uses: SecretUsesTable;
  readonly secrets: SecretsTable;
  readonly sessions: SessionsTable;
  readonly trigger_state: TriggerStateTable;
  readonly users: UsersTable;
  readonly webhooks: WebhooksTable;
}
