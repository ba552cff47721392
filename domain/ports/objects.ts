import type { ObjectKey } from './object-keys.ts';

/** The metadata of an object. */
export interface ObjectInfo {
  readonly key: ObjectKey;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  /** An opaque value that changes with every write of the object. Contains only visible ASCII characters and no
   *  quotes. */
  readonly etag: string;
}

export interface ListOptions {
  /** Lists only keys after this key, which is the last key of the previous page. */
  readonly after?: ObjectKey;
}

/** The interface of the object store, which stores bytes by key.
 *
 *  - A write is all or nothing: a reader sees the old bytes or the new ones, even after a crash.
 *  - A write is durable once `put` has resolved.
 *  - Blobs (`contentHashOf(key)` is set) are immutable: writing the same content again is harmless, content that does
 *    not match the key is refused, and reads verify the content.
 *  - A key and a key below it (`system/a` and `system/a/b`) cannot both exist: `ObjectConflict`.
 *
 *  Every method may throw `ObjectStoreUnavailable`: no write was partially applied, and retrying is safe. */
export interface ObjectStore {
  /** Writes an object. Replaces an existing object.
   *  @throws ObjectStoreFull, ObjectConflict, ObjectCorrupt (the content does not match the key of a blob) */
  put(key: ObjectKey, bytes: Uint8Array): Promise<void>;

  /** Writes an object of any size from a stream. Stores nothing if the stream fails.
   *  @returns the number of bytes written
   *  @throws the errors of `put` and of the stream */
  putStream(key: ObjectKey, chunks: AsyncIterable<Uint8Array>): Promise<number>;

  /** Reads a whole object. Returns `undefined` if the object does not exist.
   *  @throws ObjectCorrupt if the content of a blob does not match its key */
  get(key: ObjectKey): Promise<Uint8Array | undefined>;

  /** Reads an object in chunks. Returns `undefined` if the object does not exist. The caller must either read to the
   *  end or leave the loop. If the content of a blob does not match its key, the iterator throws `ObjectCorrupt`
   *  after the last chunk. */
  getStream(key: ObjectKey): Promise<AsyncIterable<Uint8Array> | undefined>;

  head(key: ObjectKey): Promise<ObjectInfo | undefined>;

  /** Lists every object whose key starts with `prefix`, ordered by the UTF-8 bytes of the keys. `prefix` may end
   *  within a path segment. Objects that are written during the listing may be missing. */
  list(prefix: string, options?: ListOptions): AsyncIterable<ObjectInfo>;

  /** Deletes an object. Has no effect if the object does not exist. */
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

/** An object already exists at a parent path of the key, or below the key. */
export class ObjectConflict extends Error {
  override readonly name = 'ObjectConflict';
  readonly key: ObjectKey;
  constructor(key: ObjectKey, options?: ErrorOptions) {
    super(`object ${key} conflicts with an object above or below it`, options);
    this.key = key;
  }
}

/** The store is full. Nothing was written. */
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
