/** Creates the bucket for the objects on a new server. */
import { CreateBucketCommand, HeadBucketCommand, S3ServiceException } from '@aws-sdk/client-s3';
import { createS3Calls, DEFAULT_LIMITS, type S3Location } from './s3-calls.ts';

/** Creates the bucket if it is missing. @returns whether it was created */
export async function makeBucket(location: S3Location): Promise<boolean> {
  const { client } = createS3Calls(location, DEFAULT_LIMITS);
  const Bucket = location.bucket;
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
    return false;
  } catch (error) {
    const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    if (status !== 404) throw error;
  }
  await client.send(new CreateBucketCommand({ Bucket }));
  return true;
}
