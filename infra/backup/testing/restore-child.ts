/** Restores the sample's backup in a separate process, which kills itself at a step. The arguments are the database
 *  URL, the folder of the objects and the step. */
import { openFolderStore } from '#infra/objects/folder.ts';
import { openDatabase } from '#infra/postgres/database.ts';
import { systemIds } from '#infra/system/ids.ts';
import { storedBackup } from '../files.ts';
import { prepareRestore, restoreBackup, type RestoreStep } from '../restore.ts';
import { masterKey, migrationsFolder, sampleBackup, sampleProjections } from './sample.ts';

const [adminUrl = '', folder = '', fatal = ''] = process.argv.slice(2);
const { pool } = openDatabase(adminUrl, {
  connections: 1,
  applicationName: 'restore',
  onIdleError: () => undefined,
});
const objects = await openFolderStore({ folder });
const source = await storedBackup(objects, sampleBackup);
if (source === undefined) throw new Error('there is no backup');
let last = '';
const onProgress = (step: RestoreStep) => {
  // A step name that ends in `…` means a progress report in the middle of that step.
  const reached = step === last ? `${step}…` : step;
  last = step;
  if (reached === fatal) process.kill(process.pid, 'SIGKILL');
};
const given = { source, key: undefined, onProgress };
const options = {
  ...given,
  pool,
  objects,
  projections: sampleProjections,
  replace: true,
  revive: false,
  actor: { kind: 'system', name: 'restore' } as const,
  ids: systemIds,
  now: () => new Date(),
};
const prepared = await prepareRestore({
  ...given,
  masterKeys: [masterKey],
  migrations: migrationsFolder,
});
await restoreBackup(options, prepared);
await pool.end();
