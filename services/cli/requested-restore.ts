/** Runs a restore that was requested in the dashboard or through the API. The supervisor starts it while the
 *  services are stopped. */
import type { Actor } from '#domain/kernel/actor.ts';
import { mustParse, parseBackupId } from '#domain/kernel/ids.ts';
import { systemContext } from '#domain/ports/commands.ts';

import { restoreRequester } from '#infra/postgres/operations/restore-checks.ts';

import { systemIds } from '#infra/system/ids.ts';

import { readConfig } from '#services/shared/config.ts';
import {
  removeRestoreRequest,
  writeRestoreRequest,
  requestedRestore,
  type RestoreRequest,
} from '#services/shared/restore-request.ts';
import type pg from 'pg';
import { backupSettings, namedBackup, prepareSource, restoreSource } from './backups.ts';
import { commandsOn } from './commands-on.ts';
import { CommandProblem } from './problem.ts';
import type { Terminal } from './terminal.ts';

const maxAttempts = 3;
const progressIntervalMs = 300;
const restorer: Actor = { kind: 'system', name: 'restore' };

/** Runs the requested restore, if there is one. If the backup cannot be restored, records the reason and removes the
 *  request.
 *  @throws any other error; the request remains and is retried */
export async function runRequestedRestore(pool: pg.Pool, terminal: Terminal): Promise<void> {
  const { dataDir } = readConfig(['dataDir']);
  const request = requestedRestore(dataDir);
  if (request === undefined) return;
  const attempts = (request.attempts ?? 0) + 1;
  writeRestoreRequest(dataDir, { ...request, attempts });
  try {
    if (attempts > maxAttempts)
      throw new Error(`The restore was interrupted ${maxAttempts} times.`);
    terminal.line(await restoreIt(request, pool, terminal));
  } catch (error) {
    if (!(error instanceof CommandProblem) && attempts < maxAttempts) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    await recordFailure(request, reason, pool);
    terminal.line(`The backup was not restored, and nothing was changed: ${reason}`);
  }
  removeRestoreRequest(dataDir);
}

async function restoreIt(
  { backupId }: RestoreRequest,
  pool: pg.Pool,
  terminal: Terminal,
): Promise<string> {
  const { objects } = await backupSettings();
  const source = await namedBackup(objects, backupId);
  let reportedMs = -Infinity;
  const onProgress = (step: string, share: number) => {
    if (performance.now() - reportedMs < progressIntervalMs) return;
    reportedMs = performance.now();
    terminal.line(`progress ${share.toFixed(2)} ${step}`);
  };
  return await restoreSource({
    pool,
    source,
    prepared: await prepareSource({ source, unsealed: false, onProgress }),
    replace: true,
    revive: false,
    actor: (await restoreRequester(pool, backupId)) ?? restorer,
    onProgress,
  });
}

async function recordFailure(
  { backupId }: RestoreRequest,
  reason: string,
  pool: pg.Pool,
): Promise<void> {
  const id = mustParse(parseBackupId, backupId);
  await commandsOn(pool).execute(
    { type: 'FailRestore', backupId: id, reason },
    systemContext('restore', systemIds.next()),
  );
}
