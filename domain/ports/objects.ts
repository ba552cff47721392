import type { ObjectKey } from './object-keys.ts';

/** The metadata of an object. */
export interface ObjectInfo {
  readonly key: ObjectKey;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  /** Changes with every write of the object; opaque, visible ASCII without quotes. */
  readonly etag: string;
}

export interface ListOptions {
  /** Only keys after this one in list order (the last key of the previous page). */
  readonly after?: ObjectKey;
}

/** The object store: bytes by key.
 *
 *  - A write is all or nothing: a reader sees the old bytes or the new ones, even after a crash.
 *  - A write is durable once `put` has resolved.
 *  - Blobs (`contentHashOf(key)` is set) are immutable: writing the same content again is harmless, content that does
 *    not match the key is refused, and reads verify the content.
 *  - A key and a key below it (`system/a` and `system/a/b`) cannot both exist: `ObjectConflict`.
 *
 *  Every method may throw `ObjectStoreUnavailable`: no write was partially applied, and retrying is safe. */
export interface ObjectStore {
  /** Writes an object and replaces an existing one.
   *  @throws ObjectStoreFull, ObjectConflict, ObjectCorrupt (a blob with other content) */
  put(key: ObjectKey, bytes: Uint8Array): Promise<void>;

  /** Writes an object of any size from a stream. Stores nothing if the stream fails.
   *  @returns the number of bytes written
   *  @throws the errors of `put` and of the stream */
  putStream(key: ObjectKey, chunks: AsyncIterable<Uint8Array>): Promise<number>;

  /** Reads the whole object; undefined if it does not exist.
   *  @throws ObjectCorrupt if the content of a blob does not match its key */
  get(key: ObjectKey): Promise<Uint8Array | undefined>;

  /** Reads the object in chunks; undefined if it does not exist. The caller must read to the end or exit its loop.
   *  If the content of a blob does not match its key, the iterator throws `ObjectCorrupt` after the last chunk. */
  getStream(key: ObjectKey): Promise<AsyncIterable<Uint8Array> | undefined>;

  head(key: ObjectKey): Promise<ObjectInfo | undefined>;

  /** Every object whose key starts with `prefix` (any text, not only whole segments), in the order of the keys'
   *  UTF-8 bytes. Objects that are written during the listing may be missing. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ObjectInfo>;

  /** Deletes an object; idempotent. */
  delete(key: ObjectKey): Promise<void>;
}

/** The content of a blob does not match its key. */
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

/** The store is full; nothing was written. */
export class ObjectStoreFull extends Error {
  override readonly name = 'ObjectStoreFull';
  readonly key: ObjectKey;
  constructor(key: ObjectKey, options?: ErrorOptions) {
    super(`no space left to store object ${key}`, options);
    this.key = key;
  }
}

/** The store is unreachable or returns an error. */
export class ObjectStoreUnavailable extends Error {
  override readonly name = 'ObjectStoreUnavailable';
}
