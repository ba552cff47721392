/** Lists the objects of an S3 bucket page by page, in byte order of their keys. */
import { ListObjectsV2Command, type ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import { parseObjectKey, type ObjectKey } from '#domain/ports/object-keys.ts';
import type { ObjectInfo } from '#domain/ports/objects.ts';
import type { S3Calls } from './s3-calls.ts';
import { unavailable } from './s3-errors.ts';

/** Selects the objects to list. */
export interface S3Listing {
  readonly prefix: string;
  /** Lists only keys after this text. An empty text lists all keys. */
  readonly after: string;
  /** The page size. The default and maximum is 1000. */
  readonly pageSize?: number;
}

interface ListedObject {
  readonly sizeBytes: number | undefined;
  readonly LastModified: Date | undefined;
  readonly ETag: string | undefined;
}

/** Lists every object whose key starts with the prefix. Each page starts after the last key of the previous page, so
 *  paging stays correct while objects are added or deleted.
 *  @throws ObjectStoreUnavailable, including when the server returns keys out of order */
export async function* listObjects(calls: S3Calls, listing: S3Listing): AsyncGenerator<ObjectInfo> {
  if (!mayStartKey(listing.prefix)) return;
  const root = calls.location.root;
  // `after` may be outside the prefix. The server then starts at the prefix.
  let last = listing.after === '' ? '' : root + listing.after;
  for (;;) {
    const page = await fetchPage(calls, listing, last);
    for (const { Key, Size, LastModified, ETag } of page.Contents ?? []) {
      const name = decoded(Key ?? '', page.EncodingType);
      if (!follows(name, last)) {
        throw unavailable(`the server lists ${JSON.stringify(name)} out of order`);
      }
      last = name;
      const key = parseObjectKey(name.slice(root.length));
      // A bucket may contain objects of other programs, such as the empty "folders" that consoles create.
      if (key === undefined) continue;
      yield infoFrom(key, { sizeBytes: Size, LastModified, ETag });
    }
    if (page.IsTruncated !== true || (page.Contents ?? []).length === 0) return;
  }
}

/** Returns the details of an object from the server's listing. */
export function infoFrom(
  key: ObjectKey,
  { sizeBytes = 0, LastModified, ETag = '' }: ListedObject,
): ObjectInfo {
  const etag = ETag.replaceAll(/^W\/|[^\x21-\x7e]|"/g, '');
  return { key, sizeBytes, modifiedAtMs: LastModified?.getTime() ?? 0, etag };
}

async function fetchPage(
  { client, location, call }: S3Calls,
  { prefix, pageSize }: S3Listing,
  last: string,
): Promise<ListObjectsV2CommandOutput> {
  const command = new ListObjectsV2Command({
    Bucket: location.bucket,
    Prefix: location.root + prefix,
    MaxKeys: pageSize ?? 1000,
    // XML cannot represent every character that a key may contain.
    EncodingType: 'url',
    ...(last === '' ? {} : { StartAfter: last }),
  });
  try {
    return await call((options) => client.send(command, options));
  } catch (error) {
    throw unavailable(`objects ${prefix}… cannot be listed`, error);
  }
}

// Some servers do not encode keys and do not report an encoding.
function decoded(name: string, encoding: string | undefined): string {
  if (encoding !== 'url') return name;
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch (error) {
    throw unavailable(`the server lists ${JSON.stringify(name)}, which is not a valid key`, error);
  }
}

function follows(name: string, last: string): boolean {
  return Buffer.compare(Buffer.from(name), Buffer.from(last)) > 0;
}

// Whether a key may start with the prefix. Invalid prefixes are not requested, because servers treat them
// inconsistently.
function mayStartKey(prefix: string): boolean {
  if (prefix === '') return true;
  const whole = prefix.split('/').slice(0, -1);
  if (whole.some((part) => ['', '.', '..'].includes(part))) return false;
  // oxlint-disable-next-line no-control-regex
  return prefix.isWellFormed() && !/[\u0000-\u001f\u007f\\]/.test(prefix);
}
