/** Writes an object with a multipart upload. The object appears only when the upload is completed. */
import { createHash, randomUUID } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3';
import type { ObjectKey } from '#domain/ports/object-keys.ts';
import { sendingMs, type S3Calls } from './s3-calls.ts';
import { saysNoUpload } from './s3-errors.ts';

/** A multipart upload in progress. Client errors propagate to the caller of each method. */
export interface Upload {
  add(part: Uint8Array): Promise<void>;
  /** Creates the object from its parts, and replaces any earlier object. */
  complete(): Promise<void>;
  /** Removes the parts. Never throws. If the server cannot be reached, `removeLeftovers` removes the parts later. */
  abort(): Promise<void>;
}

// Some servers copy all parts to assemble the object, and do not respond until the copy is complete.
const JOINED_BYTES_PER_MS = 16 * 1024;
const OWNER = 'upload';

/** Returns the base64-encoded SHA-256 that the S3 protocol expects. */
export function checksumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/** Starts a multipart upload. */
export async function beginUpload(calls: S3Calls, key: ObjectKey): Promise<Upload> {
  const { client, location, call } = calls;
  const object = { Bucket: location.bucket, Key: location.root + key };
  const owner = randomUUID();
  const create = new CreateMultipartUploadCommand({
    ...object,
    ChecksumAlgorithm: 'SHA256',
    Metadata: { [OWNER]: owner },
  });
  const { UploadId } = await call((options) => client.send(create, options));
  const upload = { ...object, UploadId };
  const parts: CompletedPart[] = [];
  let sizeBytes = 0;

  return {
    add: async (part) => {
      const PartNumber = parts.length + 1;
      const ChecksumSHA256 = checksumOf(part);
      const command = new UploadPartCommand({ ...upload, PartNumber, ChecksumSHA256, Body: part });
      const send = sendingMs(part.byteLength);
      const { ETag } = await call((options) => client.send(command, options), send);
      parts.push({ PartNumber, ETag, ChecksumSHA256 });
      sizeBytes += part.byteLength;
    },
    complete: async () => {
      const MultipartUpload = { Parts: parts };
      const command = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload });
      const join = Math.ceil(sizeBytes / JOINED_BYTES_PER_MS);
      try {
        await call((options) => client.send(command, options), join);
      } catch (error) {
        // The server completed the upload, but its response was lost. A retry then finds the object but no upload.
        if (saysNoUpload(error) && (await ownerOf(calls, object)) === owner) return;
        throw error;
      }
    },
    abort: () => abortUpload(calls, upload),
  };
}

async function ownerOf(
  { client, call }: S3Calls,
  object: { Bucket: string; Key: string },
): Promise<string | undefined> {
  const command = new HeadObjectCommand(object);
  const { Metadata } = await call((options) => client.send(command, options));
  return Metadata?.[OWNER];
}

async function abortUpload(
  { client, call }: S3Calls,
  upload: { Bucket: string; Key: string; UploadId: string | undefined },
): Promise<void> {
  const command = new AbortMultipartUploadCommand(upload);
  await call((options) => client.send(command, options)).catch(() => undefined);
}

/**
 * Removes the parts of uploads that started before `beforeMs` and whose writers crashed. Never throws, because a failed
 * cleanup must not fail a write. Some servers and access keys do not permit the cleanup.
 */
export async function removeLeftovers(calls: S3Calls, beforeMs: number): Promise<void> {
  const { client, location, call } = calls;
  const command = new ListMultipartUploadsCommand({
    Bucket: location.bucket,
    ...(location.root === '' ? {} : { Prefix: location.root }),
  });
  const found = await call((options) => client.send(command, options)).catch(() => undefined);
  for (const { Key, UploadId, Initiated } of found?.Uploads ?? []) {
    if (Key === undefined || Initiated === undefined || Initiated.getTime() >= beforeMs) continue;
    await abortUpload(calls, { Bucket: location.bucket, Key, UploadId });
  }
}
