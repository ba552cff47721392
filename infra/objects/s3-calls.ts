/** The S3 adapter's client: every call ends within a time limit. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { createSemaphore } from './semaphore.ts';

/** The location of the objects, and the credentials. */
export interface S3Location {
  readonly bucket: string;
  /** The prefix of every key: empty, or ending in a slash. */
  readonly root: string;
  /** Undefined: the endpoint of Amazon's region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined: the credentials of the machine, such as the role of its host. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  /** Whether the bucket is part of the path instead of the host name. */
  readonly pathStyle: boolean;
}

export interface S3Limits {
  /** Time limit for connecting, per attempt. */
  readonly connectTimeoutMs: number;
  /** Time limit until the response begins, per attempt, without the time for sending. */
  readonly answerTimeoutMs: number;
  /** Time limit for the whole call including retries, without the time for sending. */
  readonly callTimeoutMs: number;
  /** Time limit between two pieces of an object during a read. */
  readonly idleTimeoutMs: number;
  /** The number of attempts before a call fails, with growing random pauses between them. */
  readonly attempts: number;
  /** Larger objects are written in parts of this size; the protocol's minimum is 5 MiB. */
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
   *  @param extraMs additional time, such as for sending its body
   *  @throws errors of the client, or an error that names the exceeded limit */
  readonly call: <T>(send: (options: CallOptions) => Promise<T>, extraMs?: number) => Promise<T>;
}

// A slower connection is considered broken: a part of 8 MiB takes at most half a minute.
const SLOWEST_BYTES_PER_MS = 256;
const MAX_CONCURRENT_CALLS = 32;

/** The permitted time for sending a body. */
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
        // If the server hangs, waiting calls fail too, instead of each waiting for its own timeout.
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
    // Some steps of a call ignore the signal, such as finding credentials.
    return await Promise.race([answer, passed.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function clientConfig(location: S3Location, limits: S3Limits): S3ClientConfig {
  // The semaphore bounds the calls; slow reads must not block other calls.
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  return {
    region: location.region,
    forcePathStyle: location.pathStyle,
    ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
    ...(location.credentials === undefined ? {} : { credentials: location.credentials }),
    maxAttempts: limits.attempts,
    retryMode: 'standard',
    // The adapter sends and checks SHA-256 itself; not every server supports other checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // With servers that do not support this header, each large write would pause for seconds.
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

// The client throws its errors, so its own log messages would only clutter the platform's log.
const SILENT = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
