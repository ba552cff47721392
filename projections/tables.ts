/** The tables of all read models, for the query builder. */
import type { ApprovalsTable } from './approvals/table.ts';
import type { AuditScriptsTable, AuditSpansTable, AuditTable } from './audit/table.ts';
import type { BackupScheduleTable, BackupsTable } from './backups/table.ts';
import type { ChainAnswersTable, ChainsTable } from './chains/table.ts';
import type { RuntimeDrainsTable } from './runtimes/table.ts';
import type { ErrorGroupStatesTable } from './error-groups/table.ts';
import type { CalendarsTable } from './calendars/table.ts';
import type { DueRotationsTable } from './rotations/table.ts';
import type { MissedExpectationsTable } from './expectations/table.ts';
import type { FigurePlaceTable, FigureRunsTable, RunFiguresTable } from './figures/table.ts';
import type { GroupsTable } from './groups/table.ts';
import type { IdentityProvidersTable } from './identity-providers/table.ts';
import type { ChannelsTable } from './channels/table.ts';
import type { DeliveriesTable } from './deliveries/table.ts';
import type { RulesTable } from './rules/table.ts';
import type { NoticesTable } from './notices/table.ts';
import type { PoolsTable } from './pools/table.ts';
import type { RepositoriesTable } from './repositories/table.ts';
import type { RetentionTable } from './retention/table.ts';
import type { RunQueueTable } from './run-queue/table.ts';
import type { RunsTable } from './runs/table.ts';
import type { ScheduleOccurrencesTable, SchedulesTable } from './schedules/table.ts';
import type { ScriptFilesTable, ScriptsTable } from './scripts/table.ts';
import type {
  DataKeysTable,
  GroupSecretsTable,
  GroupSecretUsesTable,
  SecretsTable,
  SecretUsesTable,
} from './secrets/table.ts';
import type { SecretStoresTable } from './secret-stores/table.ts';
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
  readonly approvals: ApprovalsTable;
  readonly backup_schedule: BackupScheduleTable;
  readonly backups: BackupsTable;
  readonly chain_answers: ChainAnswersTable;
  readonly chains: ChainsTable;
  readonly data_keys: DataKeysTable;
  readonly error_group_states: ErrorGroupStatesTable;
  readonly calendars: CalendarsTable;
  readonly due_rotations: DueRotationsTable;
  readonly missed_expectations: MissedExpectationsTable;
  readonly runtime_drains: RuntimeDrainsTable;
  readonly figure_place: FigurePlaceTable;
  readonly figure_runs: FigureRunsTable;
  readonly groups: GroupsTable;
  readonly deliveries: DeliveriesTable;
  readonly notices: NoticesTable;
  readonly secret_stores: SecretStoresTable;
  readonly identity_providers: IdentityProvidersTable;
  readonly notification_channels: ChannelsTable;
  readonly notification_rules: RulesTable;
  readonly pools: PoolsTable;
  readonly repositories: RepositoriesTable;
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
  readonly group_secrets: GroupSecretsTable;
  readonly group_secret_uses: GroupSecretUsesTable;
  readonly sessions: SessionsTable;
  readonly trigger_state: TriggerStateTable;
  readonly users: UsersTable;
  readonly webhooks: WebhooksTable;
}
