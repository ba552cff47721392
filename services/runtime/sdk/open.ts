/** Assembles the dependencies of script calls. */
import {
  ScriptQueries,
  type ScriptQueriesOptions,
} from '#infra/postgres/script-queries/script-queries.ts';
import type { Logger } from '#services/shared/logger.ts';
import { ParameterSchemas } from '#services/shared/parameter-schemas/parameter-schemas.ts';
import { sdkCalls, type SdkCallsDeps } from './calls.ts';
import { SdkChannels } from './channels.ts';
import { PackagePaths } from './package.ts';

export interface SdkDeps extends Omit<SdkCallsDeps, 'queries' | 'parameterSchemas'> {
  readonly queries: Omit<ScriptQueriesOptions, 'platform' | 'onIdleError'>;
  /** The parent folder for the runs' socket folders. It must be a short path that other scripts cannot list. */
  readonly socketsParent: string;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
}

export interface Sdk {
  readonly channels: SdkChannels;
  readonly packagePaths: PackagePaths;
  /** The number of queries that are waiting for a connection. */
  readonly waitingQueries: number;
  /** The number of abandoned queries that are still running in the database. */
  readonly abandonedQueries: number;
  /** Closes the server. The channels of all runs must be closed first. */
  close(): Promise<void>;
}

export async function openSdk({
  queries: queryOptions,
  socketsParent,
  logger,
  ...parts
}: SdkDeps): Promise<Sdk> {
  const queries = new ScriptQueries({
    ...queryOptions,
    platform: parts.database,
    onIdleError: (error) => logger.warn({ error }, 'query connection was lost'),
  });
  const parameterSchemas = new ParameterSchemas();
  const calls = sdkCalls({ ...parts, queries, parameterSchemas });
  const channels = await SdkChannels.open(socketsParent, calls, logger);
  return {
    channels,
    packagePaths: new PackagePaths(),
    get waitingQueries() {
      return queries.waiting;
    },
    get abandonedQueries() {
      return queries.abandoned;
    },
    close: async () => {
      await channels.close();
      await Promise.all([queries.close(), parameterSchemas.close()]);
    },
  };
}
