/** Writes an object in parts. The object appears only with the last step. */
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

/** An object that is being written. Every method passes on errors of the client. */
export interface Upload {
  add(part: Uint8Array): Promise<void>;
  /** Creates the object from the parts, replacing an earlier one. */
  complete(): Promise<void>;
  /** Removes the parts. Never throws: if the server cannot be reached, `removeLeftovers` removes them. */
  abort(): Promise<void>;
}

// Some servers copy the parts when they join them, and send no response in the meantime.
const JOINED_BYTES_PER_MS = 16 * 1024;
const OWNER = 'upload';

/** The base64 checksum of the protocol. */
export function checksumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/** Starts an upload in parts. */
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
        // The upload was completed, but the response was lost: a retry finds the object instead of the upload.
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

/** Removes parts of crashed writers that were started before `beforeMs`. Never throws: a failed cleanup must not fail a
 *  write, and not every server or key permits it. */
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
