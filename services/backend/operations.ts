/** Every operation of the API: from this list come the routes, the description and the permissions. */
import Type from 'typebox';
import { describe } from './http/openapi.ts';
import { operation, type Operation } from './http/operation.ts';
import { text } from './http/reply.ts';
import { artifactOperations } from './routes/artifacts.ts';
import { auditOperations } from './routes/audit.ts';
import { auditExportOperations } from './routes/audit-export.ts';
import { auditVerifyOperations } from './routes/audit-verify.ts';
import { authOperations } from './routes/auth.ts';
import { chainOperations } from './routes/chains.ts';
import { configurationOperations } from './routes/configuration.ts';
import { dashboardOperations } from './routes/dashboard.ts';
import { dashboardNowOperations } from './routes/dashboard-now.ts';
import { fileOperations } from './routes/files.ts';
import { groupOperations } from './routes/groups.ts';
import { hookOperations } from './routes/call-webhook.ts';
import { logOperations } from './routes/logs.ts';
import { mcpOperations } from './routes/mcp.ts';
import { backupOperations } from './routes/backups.ts';
import { backupScheduleOperations } from './routes/backup-schedule.ts';
import { channelOperations } from './routes/channels.ts';
import { deliveryOperations } from './routes/deliveries.ts';
import { ruleOperations } from './routes/rules.ts';
import { notificationOperations } from './routes/notifications.ts';
import { replayOperations } from './routes/replay.ts';
import { retentionOperations } from './routes/retention.ts';
import { runCausalityOperations } from './routes/run-causality.ts';
import { runHistoryOperations } from './routes/run-history.ts';
import { runOperations } from './routes/runs.ts';
import { sampleOperations } from './routes/samples.ts';
import { scheduleTimeOperations } from './routes/schedule-times.ts';
import { scheduleOperations } from './routes/schedules.ts';
import { scriptArchiveOperations } from './routes/script-archives.ts';
import { scriptCopyOperations } from './routes/script-copies.ts';
import { scriptDiffOperations } from './routes/script-diff.ts';
import { scriptEnvironmentOperations } from './routes/script-environment.ts';
import { scriptHistoryOperations } from './routes/script-history.ts';
import { scriptPurgeOperations } from './routes/script-purge.ts';
import { scriptOperations } from './routes/scripts.ts';
import { secretOperations } from './routes/secrets.ts';
import { sdkOperations } from './routes/sdk.ts';
import { systemOperations } from './routes/system.ts';
import { systemSettingsOperations } from './routes/system-settings.ts';
import { templateOperations } from './routes/templates.ts';
import { tokenOperations } from './routes/tokens.ts';
import { triggerOperations } from './routes/triggers.ts';
import { ownAccountOperations } from './routes/own-account.ts';
import { userAccessOperations } from './routes/user-access.ts';
import { userOperations } from './routes/users.ts';
import { webhookDeliveryOperations } from './routes/webhook-deliveries.ts';
import { webhookOperations } from './routes/webhooks.ts';
import { updateOperations } from './routes/updates.ts';
import { version } from '#services/shared/version.ts';

const openapi = operation({
  method: 'get',
  path: '/openapi.json',
  operationId: 'openapi',
  summary: 'This description (OpenAPI 3.1)',
  tag: 'System',
  access: 'public',
  responses: {
    200: {
      description: 'The description.',
      schema: Type.Object({}, { additionalProperties: true }),
    },
  },
  handle: () => Promise.resolve(text(200, 'application/json; charset=utf-8', apiDescription())),
});

export const operations: readonly Operation[] = [
  ...authOperations,
  ...ownAccountOperations,
  ...tokenOperations,
  ...scriptOperations,
  ...scriptEnvironmentOperations,
  ...scriptArchiveOperations,
  ...scriptCopyOperations,
  ...scriptPurgeOperations,
  ...scriptHistoryOperations,
  ...scriptDiffOperations,
  ...secretOperations,
  ...scheduleOperations,
  ...scheduleTimeOperations,
  ...templateOperations,
  ...fileOperations,
  ...runOperations,
  ...runHistoryOperations,
  ...runCausalityOperations,
  ...artifactOperations,
  ...logOperations,
  ...sampleOperations,
  ...groupOperations,
  ...notificationOperations,
  ...channelOperations,
  ...ruleOperations,
  ...deliveryOperations,
  ...userOperations,
  ...userAccessOperations,
  ...auditOperations,
  ...auditVerifyOperations,
  ...auditExportOperations,
  ...replayOperations,
  ...systemOperations,
  ...systemSettingsOperations,
  ...mcpOperations,
  ...dashboardOperations,
  ...dashboardNowOperations,
  ...triggerOperations,
  ...retentionOperations,
  ...backupScheduleOperations,
  ...backupOperations,
  ...configurationOperations,
  ...updateOperations,
  ...webhookOperations,
  ...webhookDeliveryOperations,
  ...hookOperations,
  ...chainOperations,
  ...sdkOperations,
  openapi,
];

/** The API description as JSON text, the same at every call. */
export function apiDescription(): string {
  return `${JSON.stringify(describe(operations, version), null, 2)}\n`;
}
