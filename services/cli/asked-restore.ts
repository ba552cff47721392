/** Runs the restore that was requested in the dashboard or the API. The supervisor runs it between stopping the
 *  services and starting them again. */
import type { Actor } from '#domain/kernel/actor.ts';
import { mustParse, parseBackupId, parseCommandId } from '#domain/kernel/ids.ts';
import { CommandPipeline } from '#infra/postgres/commands/command-pipeline.ts';
import { restoreRequester } from '#infra/postgres/operations/restore-checks.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { inlineProjections } from '#projections/registry.ts';
import { decisionReads } from '#projections/decision-reads.ts';
import { readConfig } from '#services/shared/config.ts';
import {
  forgetRestore,
  noteRestore,
  restoreAskedFor,
  type RestoreRequest,
} from '#services/shared/restore-request.ts';
import type pg from 'pg';
import { backupSettings, namedBackup, prepareSource, restoreSource } from './backups.ts';
import { CommandProblem } from './problem.ts';
import type { Terminal } from './terminal.ts';

const mostAttempts = 3;
const tellEveryMs = 300;
const restorer: Actor = { kind: 'system', name: 'restore' };

/** Runs the requested restore, if there is one. A backup that cannot be restored is recorded, and its request is
 *  removed.
 *  @throws any other error: the request stays and is retried */
export async function restoreAsked(pool: pg.Pool, terminal: Terminal): Promise<void> {
  const { dataDir } = readConfig(['dataDir']);
  const request = restoreAskedFor(dataDir);
  if (request === undefined) return;
  const attempts = (request.attempts ?? 0) + 1;
  noteRestore(dataDir, { ...request, attempts });
  try {
    if (attempts > mostAttempts)
      throw new Error(`The restore was interrupted ${mostAttempts} times.`);
    terminal.line(await restoreIt(request, pool, terminal));
  } catch (error) {
    if (!(error instanceof CommandProblem) && attempts < mostAttempts) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    await recordFailure(request, reason, pool);
    terminal.line(`The backup was not restored, and nothing was changed: ${reason}`);
  }
  forgetRestore(dataDir);
}

async function restoreIt(
  { backupId }: RestoreRequest,
  pool: pg.Pool,
  terminal: Terminal,
): Promise<string> {
  const { objects } = await backupSettings();
  const source = await namedBackup(objects, backupId);
  let toldMs = -Infinity;
  const onProgress = (step: string, share: number) => {
    if (performance.now() - toldMs < tellEveryMs) return;
    toldMs = performance.now();
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
  const commands = new CommandPipeline({
    pool,
    clock: systemClock,
    ids: systemIds,
    projections: inlineProjections,
    decisionReads,
    announce: () => undefined,
  });
  const id = mustParse(parseBackupId, backupId);
  const commandId = mustParse(parseCommandId, systemIds.next());
  await commands.execute(
    { type: 'FailRestore', backupId: id, reason },
    { commandId, actor: restorer, ip: null, correlationId: commandId, causationId: null },
  );
}
