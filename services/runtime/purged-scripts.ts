/** Removes from this machine what it keeps for scripts that have been purged. Whichever runtime was away
 *  meanwhile looks when it is back. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseScriptId } from '#domain/kernel/ids.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { purgedAmong } from '#infra/postgres/purges.ts';
import { removeFolder } from './environments/folders.ts';
import type { LocalSandbox } from './sandbox/local-sandbox.ts';
import type { Environments } from './environments/environments.ts';

export interface PurgedScriptsParts {
  readonly database: Queryable;
  /** Existing folders with a folder for each script in them, named by its id. */
  readonly folders: readonly string[];
  readonly environments: Pick<Environments, 'scripts' | 'forget'>;
  readonly sandbox: Pick<LocalSandbox, 'scripts' | 'forget'>;
}

/** One round. */
export async function removePurgedScripts(parts: PurgedScriptsParts): Promise<void> {
  const { database, folders, environments, sandbox } = parts;
  const inFolders = await Promise.all(folders.map((folder) => readdir(folder)));
  const names = new Set([
    ...inFolders.flat(),
    ...(await environments.scripts()),
    ...sandbox.scripts,
  ]);
  const scriptIds = [...names].filter((name) => parseScriptId(name) === name);
  for (const scriptId of await purgedAmong(database, scriptIds)) {
    for (const folder of folders) await removeFolder(join(folder, scriptId));
    await environments.forget(scriptId);
    await sandbox.forget(scriptId);
  }
}
