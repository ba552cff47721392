import type { ObjectStore } from '#domain/ports/objects.ts';

/** The methods of the object store that removal needs. */
export type RemovableObjects = Pick<ObjectStore, 'list' | 'delete'>;

/** Removes every object whose key starts with `prefix`. @throws the reason of `signal`. The next call continues */
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
