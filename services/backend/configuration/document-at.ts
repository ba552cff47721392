/** The configuration as it was at a moment: the same export, on tables that are made from the history. */
import { withTablesAt } from '#infra/postgres/rebuild/tables-at.ts';
import type { Moment } from '#infra/postgres/event-store/streams-at.ts';
import { chainsProjection } from '#projections/chains/apply.ts';
import { channelsProjection } from '#projections/channels/apply.ts';
import { groupsProjection } from '#projections/groups/apply.ts';
import { hidePurgedScripts } from '#projections/configuration/queries.ts';
import { retentionProjection } from '#projections/retention/apply.ts';
import { rulesProjection } from '#projections/rules/apply.ts';
import { schedulesProjection } from '#projections/schedules/apply.ts';
import { scriptFilesProjection, scriptsProjection } from '#projections/scripts/apply.ts';
import { secretsProjection } from '#projections/secrets/apply.ts';
import { webhooksProjection } from '#projections/webhooks/apply.ts';
import type { Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { exportConfiguration } from './document.ts';

const projections = [
  groupsProjection,
  scriptsProjection,
  scriptFilesProjection,
  secretsProjection,
  schedulesProjection,
  webhooksProjection,
  chainsProjection,
  channelsProjection,
  rulesProjection,
  retentionProjection,
];

/** `exportConfiguration` of then. Scripts that were purged since are no part of it: their files are gone. */
export function exportAt(
  moment: Moment,
  withFiles: boolean,
  services: Services,
): Promise<AsyncIterable<Uint8Array> | Problem> {
  // When a schedule fires next is no part of it.
  return withTablesAt(services.pool, { projections, moment, without: ['run'] }, async (db) => {
    await hidePurgedScripts(db);
    return await exportConfiguration(withFiles, { ...services, readModels: db });
  });
}
