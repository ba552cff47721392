/** How the S3 adapter calls its server: a client whose every call ends within a bound. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { createSemaphore } from './semaphore.ts';

/** The location of the objects, and the credentials. */
export interface S3Location {
  readonly bucket: string;
  /** In front of every key: empty, or ending in a slash. */
  readonly root: string;
  /** Undefined: the one of Amazon's region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined: what the machine itself has, such as the role of its host. */
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  /** The bucket in the path of the address, not in its host name. */
  readonly pathStyle: boolean;
}

export interface S3Limits {
  /** Until a connection is there, each time. */
  readonly connectTimeoutMs: number;
  /** Until the answer begins, each time; sending takes its own time on top. */
  readonly answerTimeoutMs: number;
  /** The whole call with its repetitions; sending takes its own time on top. */
  readonly callTimeoutMs: number;
  /** Between two pieces of an object that is being read. */
  readonly idleTimeoutMs: number;
  /** How often a call is made before it fails, with a growing random pause in between. */
  readonly attempts: number;
  /** What is larger is written in parts of this size; the protocol's least is 5 MiB. */
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

/** What a call hands on to the client's `send`. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
  /** In milliseconds, for each attempt. */
  readonly requestTimeout: number;
}

export interface S3Calls {
  readonly client: S3Client;
  readonly location: S3Location;
  readonly limits: S3Limits;
  /** Makes one call, whatever the server does, within its limits.
   *  @param extraMs what the call may take on top, such as the time to send its body
   *  @throws what the client throws, or an error that says which limit was passed */
  readonly call: <T>(send: (options: CallOptions) => Promise<T>, extraMs?: number) => Promise<T>;
}

// A slower line than this counts as broken: a part of 8 MiB takes at most half a minute.
const SLOWEST_BYTES_PER_MS = 256;
const CALLS_AT_ONCE = 32;

/** The time that a body may take on its way. */
export function sendingMs(bytes: number): number {
  return Math.ceil(bytes / SLOWEST_BYTES_PER_MS);
}

/** Prepares the client; no connection is made yet. */
export function createS3Calls(location: S3Location, limits: S3Limits): S3Calls {
  const client = new S3Client(clientConfig(location, limits));
  const semaphore = createSemaphore(CALLS_AT_ONCE);
  return {
    client,
    location,
    limits,
    call: (send, extraMs = 0) => {
      const askedAt = performance.now();
      return semaphore(() => {
        // Those that waited behind a server that hangs do not wait for it each in its turn.
        const waitedMs = performance.now() - askedAt;
        if (waitedMs > limits.callTimeoutMs) throw new Error(`too busy for ${waitedMs} ms`);
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
    // Not every step of a call heeds the signal: finding credentials does not.
    return await Promise.race([answer, passed.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function clientConfig(location: S3Location, limits: S3Limits): S3ClientConfig {
  // The semaphore bounds the calls; objects that are being read slowly must not keep others waiting.
  const agent = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY };
  return {
    region: location.region,
    forcePathStyle: location.pathStyle,
    ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
    ...(location.credentials === undefined ? {} : { credentials: location.credentials }),
    maxAttempts: limits.attempts,
    retryMode: 'standard',
    // The adapter sends and checks SHA-256 itself; other checksums are not known to every server.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Servers that do not know it would cost each large write a pause of seconds.
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

// Errors are thrown; the client's own messages would appear between the lines of the log.
const SILENT = {
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
