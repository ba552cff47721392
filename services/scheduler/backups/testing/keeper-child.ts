/** Creates requested backups in a separate process, which tests can kill before any step. Arguments: the database URL
 *  and the object store's folder. */
import { before } from '#infra/testing/kill-steps.ts';
import { openKillablePlatform } from '#infra/testing/killable-platform.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { openFolderStore } from '#infra/objects/folder.ts';
import { masterKey } from '#infra/backup/testing/sample.ts';
import { systemIds } from '#infra/system/ids.ts';
import { BackupKeeper } from '../keeper.ts';

const [serviceUrl = '', folder = ''] = process.argv.slice(2);
const clock = { now: () => new Date() };
const { pool, reads, commands, close } = openKillablePlatform(serviceUrl, clock);
const store = await openFolderStore({ folder });

async function* inTheMidst(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isBegun = false;
  for await (const chunk of chunks) {
    if (isBegun) before('writing the next part');
    isBegun = true;
    yield chunk;
  }
}

const objects: ObjectStore = {
  put: (key, bytes) => store.put(key, bytes),
  putStream: (key, chunks) => store.putStream(key, inTheMidst(chunks)),
  get: (key) => store.get(key),
  getStream: (key) => store.getStream(key),
  head: (key) => store.head(key),
  list: (prefix, options) => store.list(prefix, options),
  delete: (key) => store.delete(key),
};
const keeper = new BackupKeeper(
  {
    pool,
    reads,
    objects,
    commands,
    ids: systemIds,
    clock,
    key: undefined,
    masterKeys: [masterKey],
    version: '0.1.13',
    migrations: 'never read',
    passRestore: undefined,
    logger: { info: () => undefined, warn: () => undefined },
  },
  0,
);
before('beginning');
await keeper.runOnce(new AbortController().signal);
before('the next round');
await close();
