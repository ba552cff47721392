/** Creates the updater of the backend process. */
import { fileURLToPath } from 'node:url';
import type { KeyObject } from 'node:crypto';
import type { UpdateProvider } from '#domain/ports/updates.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { publicKeyOf } from '#infra/updates/manifest.ts';
import { RepositoryUpdateProvider } from '#infra/updates/provider.ts';
import { repositoryAt } from '#infra/updates/source.ts';
import type { Settings } from '#services/shared/config.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import { Releases } from '#services/shared/releases.ts';
import { version } from '#services/shared/version.ts';
import { Updater, type UpdaterDeps } from './updater.ts';

const folder = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
/** Starting an update wakes the updater. The interval matters only if that notification is lost. */
const everyMs = 60_000;

type UpdateSettings = Pick<
  Settings,
  'updateUrl' | 'updateKey' | 'updateKeyOther' | 'allowPrivateTargets'
>;

/** The source of newer releases; `undefined` if none is configured. */
export function updateProvider(
  { updateUrl, updateKey, updateKeyOther, allowPrivateTargets }: UpdateSettings,
  clock: UpdaterDeps['clock'],
): UpdateProvider | undefined {
  const raw = [updateKey, updateKeyOther].filter((key) => key !== undefined);
  if (updateUrl === undefined || raw.length === 0) return undefined;
  const keys: readonly KeyObject[] = raw.map(publicKeyOf);
  const read = repositoryAt(updateUrl, new Targets(allowPrivateTargets));
  return new RepositoryUpdateProvider({ read, keys, clock });
}

/** The folder of releases, if the installation can switch between releases. */
export function releasesOf({
  edition,
  supervised,
  dataDir,
}: Pick<Settings, 'edition' | 'supervised' | 'dataDir'>): Releases | undefined {
  return edition === 'minimal' && supervised ? new Releases(dataDir) : undefined;
}

/** Executes updates in the background. */
export function startUpdater(
  deps: Omit<UpdaterDeps, 'own' | 'logger'> & {
    readonly logger: UpdaterDeps['logger'] & Parameters<typeof startLoop>[0]['logger'];
  },
): Loop {
  const updater = new Updater({ ...deps, own: { version, folder } });
  return startLoop({
    name: 'updates',
    everyMs,
    runOnce: async (signal) => await updater.runOnce(signal),
    logger: deps.logger,
  });
}
