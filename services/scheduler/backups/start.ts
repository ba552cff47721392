/** Assembles the scheduler's backup jobs. */
import { fileURLToPath } from 'node:url';
import type { EventType } from '#domain/aggregates.ts';
import type { BackupId } from '#domain/kernel/ids.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { masterKeys, type Settings } from '#services/shared/config.ts';
import { whileClockIsRight } from '#services/shared/database-clock.ts';
import type { Logger } from '#services/shared/logger.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import type { Platform } from '#services/shared/platform.ts';
import { requestRestore } from '#services/shared/restore-request.ts';
import { version } from '#services/shared/version.ts';
import { BackupKeeper } from './keeper.ts';

const migrations = fileURLToPath(new URL('../../../migrations', import.meta.url));
const pollMs = 10_000;
const tidyMs = 10 * 60_000;

const asksForBackups: readonly EventType[] = [
  'BackupStarted',
  'BackupCheckRequested',
  'BackupDeleted',
  'BackupScheduleChanged',
  'RestoreRequested',
];
/** Starts the backup jobs. In the minimal edition, the supervisor performs restores. */
export function startBackups(
  { database, reads, bus, commands, ids, clock }: Platform,
  objects: ObjectStore,
  config: Pick<
    Settings,
    'backupKey' | 'dataDir' | 'edition' | 'secretMasterKey' | 'secretMasterKeyOther'
  >,
  logger: Logger,
): Loop {
  const { pool } = database;
  const { backupKey: key, dataDir, edition } = config;
  const passRestore =
    edition === 'minimal' ? (id: BackupId) => requestRestore(dataDir, { backupId: id }) : undefined;
  const keeper = new BackupKeeper(
    {
      pool,
      reads,
      objects,
      commands,
      ids,
      clock,
      key,
      masterKeys: masterKeys(config),
      version,
      migrations,
      passRestore,
      logger,
    },
    tidyMs,
  );
  const keeping = startLoop({
    name: 'backups',
    everyMs: pollMs,
    logger,
    runOnce: whileClockIsRight(clock, (signal) => keeper.runOnce(signal)),
  });
  bus.subscribe('events', ({ types }) => {
    if (types?.includes('BackupDeleted') === true) keeper.tidySoon();
    if (types === undefined || asksForBackups.some((type) => types.includes(type))) keeping.wake();
  });
  return keeping;
}
