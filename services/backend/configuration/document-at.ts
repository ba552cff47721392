/** Exports the configuration as of a point in time, from tables that are rebuilt from the history. */
import { withTablesAt } from '#infra/postgres/rebuild/tables-at.ts';
import type { Moment } from '#infra/postgres/event-store/streams-at.ts';
import { calendarsProjection } from '#projections/calendars/apply.ts';
import { chainsProjection } from '#projections/chains/apply.ts';
import { channelsProjection } from '#projections/channels/apply.ts';
import { groupsProjection } from '#projections/groups/apply.ts';
import { hidePurgedScripts } from '#projections/configuration/queries.ts';
import { poolsProjection } from '#projections/pools/apply.ts';
import { retentionProjection } from '#projections/retention/apply.ts';
import { rulesProjection } from '#projections/rules/apply.ts';
import { schedulesProjection } from '#projections/schedules/apply.ts';
import { scriptFilesProjection, scriptsProjection } from '#projections/scripts/apply.ts';
import { secretStoresProjection } from '#projections/secret-stores/apply.ts';
import { secretsProjection } from '#projections/secrets/apply.ts';
import { webhooksProjection } from '#projections/webhooks/apply.ts';
import type { Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import { exportConfiguration } from './document.ts';

const projections = [
  groupsProjection,
  secretStoresProjection,
  poolsProjection,
  scriptsProjection,
  scriptFilesProjection,
  secretsProjection,
  calendarsProjection,
  schedulesProjection,
  webhooksProjection,
  chainsProjection,
  channelsProjection,
  rulesProjection,
  retentionProjection,
];

/** `exportConfiguration` as of a point in time. Omits scripts that were purged since then, because their files no
 *  longer exist. */
export function exportAt(
  moment: Moment,
  withFiles: boolean,
  services: Services,
): Promise<AsyncIterable<Uint8Array> | Problem> {
  // Run events are skipped, because exports contain no runs and no due times.
  return withTablesAt(services.pool, { projections, moment, without: ['run'] }, async (db) => {
    await hidePurgedScripts(db);
    return await exportConfiguration(withFiles, { ...services, readModels: db });
  });
}
