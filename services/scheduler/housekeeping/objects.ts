import type { ObjectStore } from '#domain/ports/objects.ts';

/** The methods of the object store that are needed to remove objects. */
export type RemovableObjects = Pick<ObjectStore, 'list' | 'delete'>;

/** Removes every object whose key starts with `prefix`. If it is aborted, the next call continues.
 *  @throws the abort reason of `signal` */
export async function removeObjects(
  objects: RemovableObjects,
  prefix: string,
  signal: AbortSignal,
): Promise<void> {
  for await (const { key } of objects.list(prefix)) {
    signal.throwIfAborted();
    await objects.delete(key);
  }
}
