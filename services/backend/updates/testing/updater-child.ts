/** Executes an update up to the restart, as a separate process that may be killed at any step. Arguments: the
 *  database URL, the data folder, the repository's folder, and the repository's public key in base64. */
import '#infra/testing/kill-steps.ts';
import { openKillablePlatform } from '#infra/testing/killable-platform.ts';
import { mkdir, rename } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { Targets } from '#infra/outgoing/targets.ts';
import { systemIds } from '#infra/system/ids.ts';
import { publicKeyOf } from '#infra/updates/manifest.ts';
import { RepositoryUpdateProvider } from '#infra/updates/provider.ts';
import { repositoryAt } from '#infra/updates/source.ts';
import { Releases } from '#services/shared/releases.ts';
import { Updater } from '../updater.ts';

const [serviceUrl = '', dataDir = '', repository = '', key = ''] = process.argv.slice(2);
const clock = { now: () => new Date('2026-11-22T00:00:00.000Z') };
const { pool, commands, close } = openKillablePlatform(serviceUrl, clock);
const updater = new Updater({
  commands,
  database: pool,
  clock,
  ids: systemIds,
  logger: { info: () => undefined, warn: () => undefined },
  provider: new RepositoryUpdateProvider({
    read: repositoryAt(pathToFileURL(repository).href, new Targets([])),
    keys: [publicKeyOf(Buffer.from(key, 'base64'))],
    clock,
  }),
  // Only the self-check needs an object store, and these steps do not include it.
  objects: { putStream: () => Promise.reject(new Error('not here')) },
  releases: new Releases(dataDir),
  own: { version: '0.1.13', folder: '/own' },
  // Renamed once complete, like the packages that the real provider installs.
  prepare: async ({ folder }) => {
    await mkdir(`${folder}.part`, { recursive: true });
    await rename(`${folder}.part`, folder);
  },
});
while ((await updater.runOnce(new AbortController().signal)) === true);
await close();
