/** Opens the object store that the configuration selects. */
import type { ObjectStore } from '#domain/ports/objects.ts';
import { openFolderStore } from './folder.ts';
import type { S3Location } from './s3-calls.ts';

/** Corresponds to `ORCH_OBJECTS_URL` and the related settings. */
export interface ObjectStoreConfig {
  /** The folder, used if `objectsUrl` is not set. */
  readonly objectsDir: string;
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly objectsUrl: string | undefined;
  /** The server's endpoint. Defaults to Amazon's endpoint. */
  readonly s3Endpoint: string | undefined;
  readonly s3Region: string;
  /** Set both keys or neither. Without them, the machine's own credentials are used, such as the role of its host. */
  readonly s3AccessKeyId: string | undefined;
  readonly s3SecretAccessKey: string | undefined;
  readonly s3PathStyle: boolean;
}

/** Opens the bucket in `objectsUrl` if it is set, otherwise the folder. The S3 client is loaded only for a bucket,
 *  because it uses additional memory.
 *  @throws Error if settings contradict each other, or if the folder cannot be created or entered */
export async function openObjectStore(config: ObjectStoreConfig): Promise<ObjectStore> {
  const location = locationOf(config);
  if (location === undefined) return openFolderStore({ folder: config.objectsDir });
  const { openS3Store } = await import('./s3.ts');
  return openS3Store(location);
}

/** Creates the bucket in `objectsUrl` if it is missing.
 *  @returns whether the bucket was created */
export async function prepareObjectStore(config: ObjectStoreConfig): Promise<boolean> {
  const location = locationOf(config);
  if (location === undefined) return false;
  const { makeBucket } = await import('./make-bucket.ts');
  return await makeBucket(location);
}

function locationOf(config: ObjectStoreConfig): S3Location | undefined {
  if (config.objectsUrl === undefined) return undefined;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new Error(
      'only one of ORCH_S3_ACCESS_KEY_ID and ORCH_S3_SECRET_ACCESS_KEY is set; set both or neither',
    );
  }
  return {
    ...bucketOf(config.objectsUrl),
    endpoint: config.s3Endpoint,
    region: config.s3Region,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : { accessKeyId, secretAccessKey },
    pathStyle: config.s3PathStyle,
  };
}

function bucketOf(url: string): { bucket: string; root: string } {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(url) ?? [];
  if (bucket === undefined) throw new Error('ORCH_OBJECTS_URL: expected s3://bucket/prefix');
  return { bucket, root: prefix === '' ? '' : `${prefix}/` };
}
