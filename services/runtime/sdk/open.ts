/** What the runtime needs to serve its scripts' calls. */
import { ScriptQueries } from '#infra/postgres/script-queries.ts';
import type { Logger } from '#services/shared/logger.ts';
import { sdkCalls, type SdkCallsParts } from './calls.ts';
import { SdkChannels } from './channels.ts';
import { PackagePaths } from './package.ts';

export interface SdkParts extends Omit<SdkCallsParts, 'queries'> {
  readonly databaseUrl: string;
  readonly logger: Pick<Logger, 'error' | 'warn'>;
}

export interface Sdk {
  readonly channels: SdkChannels;
  readonly packagePaths: PackagePaths;
  /** The channels of all runs are closed. */
  close(): Promise<void>;
}

export async function openSdk({ databaseUrl, logger, ...parts }: SdkParts): Promise<Sdk> {
  const queries = new ScriptQueries(databaseUrl, parts.database, (error) =>
    logger.warn({ error }, 'a connection of queries broke'),
  );
  const channels = await SdkChannels.open(sdkCalls({ ...parts, queries }), logger);
  return {
    channels,
    packagePaths: new PackagePaths(),
    close: async () => {
      await channels.close();
      await queries.close();
    },
  };
}
