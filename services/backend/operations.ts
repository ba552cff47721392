/** All operations of the API. Routes, description and permissions are derived from this list. */
import { version } from '#services/shared/version.ts';
import Type from 'typebox';
import { authOperations } from './access/routes.ts';
import { passkeyOperations } from './access/second-factor/passkey-routes.ts';
import { secondFactorOperations } from './access/second-factor/second-factor-routes.ts';
import { tokenOperations } from './access/token-routes.ts';
import { approvalChangeOperations } from './approvals/change-routes.ts';
import { approvalOperations } from './approvals/routes.ts';
import { auditExportOperations } from './audit/export-routes.ts';
import { auditOperations } from './audit/routes.ts';
import { auditVerifyOperations } from './audit/verification-routes.ts';
import { backupOperations } from './backups/routes.ts';
import { backupScheduleOperations } from './backups/schedule-routes.ts';
import { chainOperations } from './chains/routes.ts';
import { errorOperations } from './errors/routes.ts';
import { configurationOperations } from './configuration/routes.ts';
import { dashboardNowOperations } from './dashboard/now-routes.ts';
import { dashboardOverviewOperations } from './dashboard/overview-routes.ts';
import { dashboardOperations } from './dashboard/routes.ts';
import { artifactOperations } from './files/artifact-routes.ts';
import { fileOperations } from './files/routes.ts';
import { describe } from './http/description/openapi.ts';
import { operation, type Operation } from './http/operation.ts';
import { text } from './http/reply.ts';
import { socketDescriptions } from './live/description.ts';
import { channelOperations } from './notifications/channel-routes.ts';
import { deliveryOperations } from './notifications/delivery-routes.ts';
import { notificationOperations } from './notifications/routes.ts';
import { ruleOperations } from './notifications/rule-routes.ts';
import { secretStoreOperations } from './secret-stores/routes.ts';
import { identityProviderOperations } from './identity-providers/routes.ts';
import { providerSignInOperations } from './identity-providers/sign-in-routes.ts';
import { linkedIdentityOperations } from './identity-providers/linked-identity-routes.ts';
import { userAccessOperations } from './people/access-routes.ts';
import { groupOperations } from './people/group-routes.ts';
import { ownAccountOperations } from './people/own-account-routes.ts';
import { userOperations } from './people/routes.ts';
import { repositoryHookOperations } from './repositories/hook-routes.ts';
import { repositoryOperations } from './repositories/routes.ts';
import { repositorySyncOperations } from './repositories/sync-routes.ts';
import { calendarOperations } from './calendars/routes.ts';
import { poolOperations } from './pools/routes.ts';
import { replayOperations } from './replay/routes.ts';
import { runCausalityOperations } from './runs/causality-routes.ts';
import { runChangesOperations } from './runs/changes-routes.ts';
import { runHistoryOperations } from './runs/history-routes.ts';
import { logOperations } from './runs/log-routes.ts';
import { runOperations } from './runs/routes.ts';
import { sampleOperations } from './runs/sample-routes.ts';
import { runtimeOperations } from './runtimes/routes.ts';
import { scheduleBackfillOperations } from './schedules/backfill-routes.ts';
import { scheduleOperations } from './schedules/routes.ts';
import { scheduleTimeOperations } from './schedules/time-routes.ts';
import { scriptArchiveOperations } from './scripts/archive-routes.ts';
import { scriptCopyOperations } from './scripts/copy-routes.ts';
import { scriptEnvironmentOperations } from './scripts/environment-routes.ts';
import { scriptExpectationOperations } from './scripts/expectation-routes.ts';
import { scriptDiffOperations } from './scripts/history/diff-routes.ts';
import { scriptRestoreOperations } from './scripts/history/restore-routes.ts';
import { scriptHistoryOperations } from './scripts/history/routes.ts';
import { scriptPurgeOperations } from './scripts/purge-routes.ts';
import { scriptOperations } from './scripts/routes.ts';
import { secretOperations } from './secrets/routes.ts';
import { spanOperations } from './spans/routes.ts';
import { sdkOperations } from './static/sdk-routes.ts';
import { mcpOperations } from './system/mcp-routes.ts';
import { retentionOperations } from './system/retention-routes.ts';
import { systemOperations } from './system/routes.ts';
import { systemSettingsOperations } from './system/settings-routes.ts';
import { triggerOperations } from './system/trigger-routes.ts';
import { templateOperations } from './templates/routes.ts';
import { updateOperations } from './updates/routes.ts';
import { hookOperations } from './webhooks/call-routes.ts';
import { webhookDeliveryOperations } from './webhooks/delivery-routes.ts';
import { webhookOperations } from './webhooks/routes.ts';

const openapi = operation({
  method: 'get',
  path: '/openapi.json',
  operationId: 'openapi',
  summary: 'Read this API description (OpenAPI 3.1)',
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
  ...secondFactorOperations,
  ...passkeyOperations,
  ...ownAccountOperations,
  ...tokenOperations,
  ...scriptOperations,
  ...scriptEnvironmentOperations,
  ...scriptExpectationOperations,
  ...scriptArchiveOperations,
  ...scriptCopyOperations,
  ...scriptPurgeOperations,
  ...scriptHistoryOperations,
  ...scriptDiffOperations,
  ...scriptRestoreOperations,
  ...secretOperations,
  ...scheduleOperations,
  ...scheduleTimeOperations,
  ...scheduleBackfillOperations,
  ...templateOperations,
  ...fileOperations,
  ...runOperations,
  ...approvalOperations,
  ...approvalChangeOperations,
  ...runHistoryOperations,
  ...runChangesOperations,
  ...runCausalityOperations,
  ...artifactOperations,
  ...logOperations,
  ...sampleOperations,
  ...spanOperations,
  ...groupOperations,
  ...notificationOperations,
  ...channelOperations,
  ...ruleOperations,
  ...deliveryOperations,
  ...userOperations,
  ...userAccessOperations,
  ...secretStoreOperations,
  ...identityProviderOperations,
  ...linkedIdentityOperations,
  ...providerSignInOperations,
  ...auditOperations,
  ...auditVerifyOperations,
  ...auditExportOperations,
  ...replayOperations,
  ...systemOperations,
  ...systemSettingsOperations,
  ...mcpOperations,
  ...dashboardOperations,
  ...dashboardNowOperations,
  ...dashboardOverviewOperations,
  ...triggerOperations,
  ...runtimeOperations,
  ...calendarOperations,
  ...poolOperations,
  ...repositoryOperations,
  ...repositorySyncOperations,
  ...repositoryHookOperations,
  ...retentionOperations,
  ...backupScheduleOperations,
  ...backupOperations,
  ...configurationOperations,
  ...updateOperations,
  ...webhookOperations,
  ...webhookDeliveryOperations,
  ...hookOperations,
  ...chainOperations,
  ...errorOperations,
  ...sdkOperations,
  openapi,
];

/** The API description as JSON text. The text is the same on every call. */
export function apiDescription(): string {
  return `${JSON.stringify(describe({ operations, sockets: socketDescriptions, version }), null, 2)}\n`;
}
