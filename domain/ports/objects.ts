import type { ObjectKey } from './object-keys.ts';

/** What is known of an object without reading it. */
export interface ObjectInfo {
  readonly key: ObjectKey;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  /** Changes whenever the object is written; opaque, of visible ASCII without quotes. */
  readonly etag: string;
}

export interface ListOptions {
  /** Only keys after this one, in the order of the list (the last key of the page before). */
  readonly after?: ObjectKey;
}

/** The object store: bytes by key.
 *
 *  - A write is all or nothing: a reader sees the old bytes or the new ones, also after a crash.
 *  - What `put` has answered is durable.
 *  - Blobs (`contentHashOf(key)` is set) are immutable: writing one twice is harmless, other content
 *    than the key says is refused, and reading verifies.
 *  - A key and a key below it (`system/a` and `system/a/b`) cannot both exist: `ObjectConflict`.
 *
 *  Every method may throw `ObjectStoreUnavailable`: nothing was half done, and trying again is safe. */
export interface ObjectStore {
  /** Writes an object, replacing any earlier one.
   *  @throws ObjectStoreFull, ObjectConflict, ObjectCorrupt (a blob with other content) */
  put(key: ObjectKey, bytes: Uint8Array): Promise<void>;

  /** Writes an object of any size from a stream; nothing is stored when the stream fails.
   *  @returns the number of bytes written
   *  @throws what `put` throws, and whatever the stream throws */
  putStream(key: ObjectKey, chunks: AsyncIterable<Uint8Array>): Promise<number>;

  /** The whole object, or undefined where there is none.
   *  @throws ObjectCorrupt when a blob's content is not what its key says */
  get(key: ObjectKey): Promise<Uint8Array | undefined>;

  /** The object in pieces, or undefined where there is none. The reader must read to the end or
   *  leave its loop; a blob that does not verify throws `ObjectCorrupt` after the last piece. */
  getStream(key: ObjectKey): Promise<AsyncIterable<Uint8Array> | undefined>;

  head(key: ObjectKey): Promise<ObjectInfo | undefined>;

  /** Every object whose key starts with `prefix` (any text, not only whole parts), in the order of
   *  the keys' UTF-8 bytes. Objects written meanwhile may or may not be in it. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ObjectInfo>;

  /** Removes an object; one that is not there is fine. */
  delete(key: ObjectKey): Promise<void>;
}

/** The content of a blob is not what its key says. */
export class ObjectCorrupt extends Error {
  override readonly name = 'ObjectCorrupt';
  readonly key: ObjectKey;
  constructor(key: ObjectKey) {
    super(`object ${key} is corrupt: its content does not match its key`);
    this.key = key;
  }
}

/** A key lies below another object, or has objects below it. */
export class ObjectConflict extends Error {
  override readonly name = 'ObjectConflict';
  readonly key: ObjectKey;
  constructor(key: ObjectKey, options?: ErrorOptions) {
    super(`object ${key} conflicts with an object above or below it`, options);
    this.key = key;
  }
}

/** No room for the object; nothing was written. */
export class ObjectStoreFull extends Error {
  override readonly name = 'ObjectStoreFull';
  readonly key: ObjectKey;
  constructor(key: ObjectKey, options?: ErrorOptions) {
    super(`no space left to store object ${key}`, options);
    this.key = key;
  }
}

/** The store cannot be reached or answers with an error of its own. */
export class ObjectStoreUnavailable extends Error {
  override readonly name = 'ObjectStoreUnavailable';
}
