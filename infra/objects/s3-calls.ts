/** The client of the S3 adapter. Every call has a time limit. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { createSemaphore } from './semaphore.ts';

/** The location of the bucket and its credentials. */
export interface S3Location {
  readonly bucket: string;
  /** The prefix of every key, either empty or ending in a slash. */
  readonly root: string;
  /** Undefined for Amazon's endpoint in the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined for the machine's own credentials, such as the role of its host. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  /** Whether the bucket name is in the path rather than in the host name. */
  readonly pathStyle: boolean;
}

export interface S3Limits {
  /** Time limit per attempt for connecting. */
  readonly connectTimeoutMs: number;
  /** Time limit per attempt until the response begins. The time to send the body is added. */
  readonly answerTimeoutMs: number;
  /** Time limit for the whole call, including retries. The time to send the body is added. */
  readonly callTimeoutMs: number;
  /** Time limit between two chunks while an object is read. */
  readonly idleTimeoutMs: number;
  /** The maximum number of attempts per call. The pauses between attempts are random and grow. */
  readonly attempts: number;
  /** Objects larger than this are uploaded in parts of this size. The protocol's minimum is 5 MiB. */
  readonly partBytes: number;
}

export const DEFAULT_LIMITS: S3Limits = {
  connectTimeoutMs: 1500,
  answerTimeoutMs: 5000,
  callTimeoutMs: 12_000,
  idleTimeoutMs: 5000,
  attempts: 3,
  partBytes: 8 * 1024 * 1024,
};

/** Options for the client's `send`. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
  /** In milliseconds, for each attempt. */
  readonly requestTimeout: number;
}

export interface S3Calls {
  readonly client: S3Client;
  readonly location: S3Location;
  readonly limits: S3Limits;
  /** Makes one call within its time limits.
   *  @param extraMs additional time, such as for sending the body
   *  @throws errors of the client, or an error that names the exceeded limit */
  readonly call: <T>(send: (options: CallOptions) => Promise<T>, extraMs?: number) => Promise<T>;
}

// A slower connection is considered broken. At this rate, a part of 8 MiB takes about half a minute.
const SLOWEST_BYTES_PER_MS = 256;
const MAX_CONCURRENT_CALLS = 32;

/** Returns the time allowed for sending a body, in milliseconds. */
export function sendingMs(bytes: number): number {
  return Math.ceil(bytes / SLOWEST_BYTES_PER_MS);
}

/** Prepares the client without connecting. */
export function createS3Calls(location: S3Location, limits: S3Limits): S3Calls {
  const client = new S3Client(clientConfig(location, limits));
  const semaphore = createSemaphore(MAX_CONCURRENT_CALLS);
  return {
    client,
    location,
    limits,
    call: (send, extraMs = 0) => {
      const askedAt = performance.now();
      return semaphore(() => {
        // If the server hangs, queued calls fail together instead of timing out one after another.
        const waitedMs = performance.now() - askedAt;
        if (waitedMs > limits.callTimeoutMs)
          throw new Error(`no request to the server could start for ${Math.round(waitedMs)} ms`);
        return bounded(send, {
          requestTimeout: limits.answerTimeoutMs + extraMs,
          callTimeoutMs: limits.callTimeoutMs + extraMs,
        });
      });
    },
  };
}

async function bounded<T>(
  send: (options: CallOptions) => Promise<T>,
  { requestTimeout, callTimeoutMs }: { requestTimeout: number; callTimeoutMs: number },
): Promise<T> {
  const controller = new AbortController();
  const passed = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`the call took over ${callTimeoutMs} ms`);
    passed.reject(error);
    controller.abort(error);
  }, callTimeoutMs);
  try {
    const answer = send({ abortSignal: controller.signal, requestTimeout });
    // Some steps of a call, such as finding credentials, ignore the abort signal.
    return await Promise.race([answer, passed.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function clientConfig(location: S3Location, limits: S3Limits): S3ClientConfig {
  // The semaphore already bounds the number of calls, and slow reads must not block other calls.
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  return {
    region: location.region,
    forcePathStyle: location.pathStyle,
    ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
    ...(location.credentials === undefined ? {} : { credentials: location.credentials }),
    maxAttempts: limits.attempts,
    retryMode: 'standard',
    // The adapter sends and checks SHA-256 itself, because not every server supports other checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // On servers that do not support this header, each large write would pause for seconds.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: limits.connectTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    logger: SILENT,
  };
}

// The client's log messages would duplicate the errors that it throws.
const SILENT = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
