/** Opens a process's object store. */
import { objectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { openObjectStore, type ObjectStoreConfig } from '#infra/objects/open.ts';
import type { Logger } from './logger.ts';

/** Opens the store without waiting for its server. If the server does not respond, a warning is logged, and each later
 *  call retries.
 *  @throws if settings contradict each other, or if the folder cannot be created or accessed */
export async function openObjects(
  config: ObjectStoreConfig,
  logger: Pick<Logger, 'warn'>,
): Promise<ObjectStore> {
  const objects = await openObjectStore(config);
  const { objectsUrl, s3Endpoint = 'Amazon S3', objectsDir } = config;
  const tried = objectsUrl === undefined ? objectsDir : `${objectsUrl} at ${s3Endpoint}`;
  objects.head(objectKey.system('health')).catch((error: unknown) => {
    logger.warn({ tried, error }, 'the object store does not respond');
  });
  return objects;
}
