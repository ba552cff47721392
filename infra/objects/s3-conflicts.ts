/** Detects conflicts between a key and other keys below it. S3 permits such keys, but servers and folders that store
 *  objects as files cannot hold both objects. */
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { contentHashOf, parseObjectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import { ObjectConflict } from '#domain/ports/objects.ts';
import type { S3Calls } from './s3-calls.ts';
import { objectError, saysConflict, saysMissing } from './s3-errors.ts';
import { listObjects } from './s3-list.ts';

// The minimum number of segments of a key, by its first segment. Shorter keys are not checked.
const MIN_PARTS: Readonly<Record<string, number>> = {
  scripts: 4,
  runs: 4,
  backups: 3,
  templates: 3,
  system: 2,
};
const PRUNING_ATTEMPTS = 10;

/** Checks the keys above and below a key. Blob names cannot conflict, so the most frequent writes need no check.
 *  @throws ObjectConflict, ObjectStoreUnavailable */
export async function refuseConflict(calls: S3Calls, key: ObjectKey): Promise<void> {
  if (contentHashOf(key) !== undefined) return;
  const parts = key.split('/');
  const least = MIN_PARTS[parts[0] ?? ''] ?? 0;
  const above = parts
    .map((_, depth) => (depth < least ? undefined : parts.slice(0, depth).join('/')))
    .flatMap((text) => (text === undefined ? [] : (parseObjectKey(text) ?? [])));
  const found = await Promise.all([
    hasBelow(calls, key),
    ...above.map((each) => exists(calls, each)),
  ]);
  if (found.includes(true)) throw new ObjectConflict(key);
}

async function exists({ client, location, call }: S3Calls, key: ObjectKey): Promise<boolean> {
  const command = new HeadObjectCommand({ Bucket: location.bucket, Key: location.root + key });
  try {
    await call((options) => client.send(command, options));
    return true;
  } catch (error) {
    if (saysMissing(error)) return false;
    throw objectError(key, error);
  }
}

async function hasBelow(calls: S3Calls, key: ObjectKey): Promise<boolean> {
  const first = await listObjects(calls, { prefix: `${key}/`, after: '', pageSize: 1 }).next();
  return first.done !== true;
}

/** Retries a write that a file-based server refused although no other key conflicts. The cause is a concurrent delete
 *  that was removing the empty folder.
 *  @throws ObjectConflict if there is a real conflict, and errors of `write` */
export async function despitePruning(
  calls: S3Calls,
  key: ObjectKey,
  write: () => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await write();
      return;
    } catch (error) {
      const isConflict = error instanceof ObjectConflict || saysConflict(error);
      if (!isConflict || attempt === PRUNING_ATTEMPTS) throw error;
      await refuseConflict(calls, key);
    }
  }
}
