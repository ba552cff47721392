/**
 * Removes the data of purged scripts from this machine, and records the time up to which all purges are complete. A
 * runtime that was offline catches up on the purges that it missed.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseScriptId } from '#domain/kernel/ids.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { databaseTime, purgedAmong } from '#infra/postgres/operations/purges.ts';
import { recordRemoval } from '#infra/postgres/queue/runtimes.ts';
import { removeFolder } from './environments/folders.ts';
import type { LocalSandbox } from './sandbox/local-sandbox.ts';
import type { Environments } from './environments/environments.ts';

export interface PurgedScriptsDeps {
  readonly runtimeId: string;
  readonly database: Queryable;
  /** Existing folders, each with one folder per script that is named by the script's ID. */
  readonly folders: readonly string[];
  readonly environments: Pick<Environments, 'scripts' | 'forget'>;
  readonly sandbox: Pick<LocalSandbox, 'scripts' | 'forget'>;
}

/** Removes the data of scripts that have been purged since the previous round. A failure for one script does not affect
 *  the others.
 *  @throws AggregateError with the error for each failed script */
export async function removePurgedScripts(deps: PurgedScriptsDeps): Promise<void> {
  const { runtimeId, database, folders, environments, sandbox } = deps;
  // Reads the time first, so that this round includes all purges up to that time.
  const since = await databaseTime(database);
  const inFolders = await Promise.all(folders.map((folder) => readdir(folder)));
  const names = new Set([
    ...inFolders.flat(),
    ...(await environments.scripts()),
    ...sandbox.scripts,
  ]);
  const scriptIds = [...names].filter((name) => parseScriptId(name) === name);
  let isDone = true;
  const errors: unknown[] = [];
  for (const scriptId of await purgedAmong(database, scriptIds)) {
    try {
      for (const folder of folders) await removeFolder(join(folder, scriptId));
      isDone = (await environments.forget(scriptId)) && isDone;
      await sandbox.forget(scriptId);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) {
    throw new AggregateError(errors, 'data of purged scripts could not be removed');
  }
  if (isDone) await recordRemoval(database, runtimeId, since);
}
