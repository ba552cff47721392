/** All projections, in two lists: inline and asynchronous. Add a new projection to one of these lists. */
import { approvalsProjection } from './approvals/apply.ts';
import { auditProjection } from './audit/apply.ts';
import { backupScheduleProjection, backupsProjection } from './backups/apply.ts';
import { calendarsProjection } from './calendars/apply.ts';
import { chainAnswersProjection, chainsProjection } from './chains/apply.ts';
import { errorGroupStatesProjection } from './error-groups/apply.ts';
import { missedExpectationsProjection } from './expectations/apply.ts';
import { runFiguresProjection } from './figures/apply.ts';
import { groupsProjection } from './groups/apply.ts';
import { channelsProjection } from './channels/apply.ts';
import { deliveriesProjection } from './deliveries/apply.ts';
import { dueRotationsProjection } from './rotations/apply.ts';
import { rulesProjection } from './rules/apply.ts';
import { identityProvidersProjection } from './identity-providers/apply.ts';
import { noticesProjection } from './notices/apply.ts';
import { poolsProjection } from './pools/apply.ts';
import type { Projection } from './projection.ts';
import { repositoriesProjection } from './repositories/apply.ts';
import { retentionProjection } from './retention/apply.ts';
import { runQueueProjection } from './run-queue/apply.ts';
import { runsProjection } from './runs/apply.ts';
import { runtimeDrainsProjection } from './runtimes/apply.ts';
import { schedulesProjection } from './schedules/apply.ts';
import { scriptFilesProjection, scriptsProjection } from './scripts/apply.ts';
import {
  groupSecretsProjection,
  groupSecretUsesProjection,
  secretsProjection,
  secretUsesProjection,
} from './secrets/apply.ts';
import { secretStoresProjection } from './secret-stores/apply.ts';
import { sessionsProjection } from './sessions/apply.ts';
import { tokensProjection } from './tokens/apply.ts';
import { triggerStateProjection } from './trigger-state/apply.ts';
import { usersProjection } from './users/apply.ts';
import { webhooksProjection } from './webhooks/apply.ts';

/** Inline projections, which are written in the transaction of the append. The order is always the same, so that
 *  concurrent appends cannot deadlock on rows. */
export const inlineProjections: readonly Projection[] = [
  groupsProjection,
  usersProjection,
  sessionsProjection,
  tokensProjection,
  scriptsProjection,
  scriptFilesProjection,
  runsProjection,
  runQueueProjection,
  triggerStateProjection,
  secretsProjection,
  schedulesProjection,
  retentionProjection,
  webhooksProjection,
  chainsProjection,
  chainAnswersProjection,
  noticesProjection,
  channelsProjection,
  rulesProjection,
  deliveriesProjection,
  backupsProjection,
  backupScheduleProjection,
  errorGroupStatesProjection,
  runtimeDrainsProjection,
  missedExpectationsProjection,
  identityProvidersProjection,
  poolsProjection,
  groupSecretsProjection,
  dueRotationsProjection,
  repositoriesProjection,
  approvalsProjection,
  secretStoresProjection,
  calendarsProjection,
];

/** Asynchronous projections, which the projector writes. */
export const asyncProjections: readonly Projection[] = [
  auditProjection,
  runFiguresProjection,
  secretUsesProjection,
  groupSecretUsesProjection,
];
