/** Converts errors from an S3 server or client to errors of the object store port. */
import { S3ServiceException } from '@aws-sdk/client-s3';
import type { ObjectKey } from '#domain/ports/object-keys.ts';
import {
  ObjectConflict,
  ObjectCorrupt,
  ObjectStoreFull,
  ObjectStoreUnavailable,
} from '#domain/ports/objects.ts';

// The protocol has no code for a full server. Ceph, MinIO, versitygw and others use these codes.
const FULL: readonly string[] = [
  'InsufficientStorage',
  'QuotaExceeded',
  'StorageFull',
  'XMinioAdminBucketQuotaExceeded',
  'XMinioStorageFull',
];
// Error codes of servers that store objects as files.
const CONFLICT: readonly string[] = [
  'ErrDirectoryNotEmpty',
  'ExistingObjectIsDirectory',
  'ObjectParentIsFile',
  'XMinioObjectExistsAsDirectory',
  'XMinioParentIsObject',
];

/** The protocol's error code, such as `NoSuchKey`, or the client's name for the error. */
function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** Whether the server reported that the object does not exist. The status code alone is not sufficient: a missing
 *  bucket also returns 404, as does an unknown access key on some servers. */
export function saysMissing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes(codeOf(error));
}

/** Whether the server reported that the key conflicts with an object above or below it. */
export function saysConflict(error: unknown): boolean {
  return CONFLICT.includes(codeOf(error));
}

/** Whether the server reported that the multipart upload does not exist. */
export function saysNoUpload(error: unknown): boolean {
  return codeOf(error) === 'NoSuchUpload';
}

/** Converts the failure of a call about one object to an error of the object store port. */
export function objectError(key: ObjectKey, error: unknown): Error {
  if (error instanceof ObjectCorrupt || error instanceof ObjectConflict) return error;
  if (saysConflict(error)) return new ObjectConflict(key, { cause: error });
  if (FULL.includes(codeOf(error)) || statusOf(error) === 507) {
    return new ObjectStoreFull(key, { cause: error });
  }
  return unavailable(`object ${key} cannot be reached`, error);
}

/** Converts any other failure to an error of the object store port. */
export function unavailable(what: string, cause?: unknown): ObjectStoreUnavailable {
  if (cause instanceof ObjectStoreUnavailable) return cause;
  const code = codeOf(cause);
  const reason = ['', 'Error'].includes(code) ? '' : ` (${code})`;
  return new ObjectStoreUnavailable(`${what}${reason}`, cause === undefined ? {} : { cause });
}
