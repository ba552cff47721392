/** All calls that scripts can make. */
import type { Bus } from '#domain/ports/bus.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { ScriptQueries } from '#infra/postgres/script-queries/script-queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import type { ParameterSchemas } from '#services/shared/parameter-schemas/parameter-schemas.ts';
import type { Tracing } from '#services/shared/tracing/tracing.ts';
import type { ReportedErrors } from '../reported-errors.ts';
import type { RunSecrets } from '../secrets/run-secrets.ts';
import type { SdkCalls } from './call.ts';
import { errorCalls } from './calls/errors.ts';
import { mqttCalls } from './calls/mqtt.ts';
import { noticeCalls } from './calls/notices.ts';
import { queryCalls } from './calls/queries.ts';
import { reportCalls } from './calls/reports.ts';
import { runCalls } from './calls/runs.ts';
import { secretCalls } from './calls/secrets.ts';
import { spanCalls } from './calls/spans.ts';
import { stateCalls } from './calls/state.ts';
import { storageCalls } from './calls/storage.ts';

export interface SdkCallsDeps {
  readonly database: Queryable;
  readonly reads: ReadModels;
  readonly objects: ObjectStore;
  readonly secrets: Pick<RunSecrets, 'valueOf'>;
  readonly reportedErrors: Pick<ReportedErrors, 'add'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly commands: Commands;
  readonly queries: ScriptQueries;
  readonly parameterSchemas: ParameterSchemas;
  /** The URL of the MQTT broker, if configured. */
  readonly mqttUrl: string | undefined;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly tracing: Tracing | undefined;
}

export function sdkCalls(deps: SdkCallsDeps): SdkCalls {
  const { database, reads, objects, secrets, bus, commands, ids, mqttUrl } = deps;
  return {
    ...secretCalls(secrets),
    ...reportCalls(database, (...messages) => bus.publish(...messages)),
    ...errorCalls(deps.reportedErrors),
    ...spanCalls(deps),
    ...storageCalls(objects, reads),
    ...stateCalls(database),
    ...noticeCalls(commands, ids),
    ...runCalls(deps),
    ...queryCalls(deps.queries, reads),
    ...mqttCalls(mqttUrl === undefined ? undefined : new URL(mqttUrl)),
  };
}
