/** A real S3 server for tests. Uses the server that an environment variable names, or else versitygw with a folder. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, type NetConnectOpts } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { S3Location } from '#infra/objects/s3-calls.ts';
import type { OptionalService } from '../../scripts/testing/optional-service.ts';
import { findProgram } from './find-program.ts';
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts';

/** An S3 server behind a proxy that can cause faults. */
export interface TestS3Server {
  /** An existing bucket, with a `root` that only this test uses. */
  readonly location: S3Location;
  readonly proxy: FaultProxy;
  stop(): Promise<void>;
}

const ADDRESS = 'ORCH_TEST_S3_URL';
const PROGRAM = 'versitygw';
const INSTALLED = fileURLToPath(new URL('../../.toolchain/go/bin', import.meta.url));
const START_TIMEOUT_MS = 20_000;
const BUCKET = 'orchestrator';

/** The server to use: `ORCH_TEST_S3_URL` (`http://key:secret@host:port/bucket`), a program on the PATH, or the program
 *  that CI builds. */
export const s3Service: OptionalService = {
  service: 'S3 server',
  found: process.env[ADDRESS] ?? findProgram(PROGRAM, [INSTALLED]),
  reason: `${ADDRESS} is not set and ${PROGRAM} is not installed (.ci/install-s3-server builds it)`,
};

/** Starts a server, or uses the given one. `stop` stops only a server that was started. @throws Error if `s3Service`
 *  was not found */
export async function startS3Server(): Promise<TestS3Server> {
  const { found, reason } = s3Service;
  if (found === undefined) throw new Error(reason);
  return process.env[ADDRESS] === undefined ? startOwn(found) : useGiven(found);
}

async function useGiven(address: string): Promise<TestS3Server> {
  const url = new URL(address);
  const proxy = await startFaultProxy({ host: url.hostname, port: Number(url.port || '80') });
  return {
    location: locationOf(proxy, url.pathname.slice(1), {
      accessKeyId: decodeURIComponent(url.username),
      secretAccessKey: decodeURIComponent(url.password),
    }),
    proxy,
    stop: () => proxy.close(),
  };
}

async function startOwn(program: string): Promise<TestS3Server> {
  const folder = await mkdtemp(join(tmpdir(), 's3-'));
  // The server listens on a socket in its folder, so that no port must be chosen. The proxy listens on a port.
  const socket = join(folder, 'socket');
  const credentials = { accessKeyId: 'test', secretAccessKey: randomBytes(16).toString('hex') };
  await mkdir(join(folder, 'buckets', BUCKET), { recursive: true });
  await mkdir(join(folder, 'metadata'));
  const args = ['--port', socket, '--quiet', 'posix'];
  // Metadata is stored separately, because not every file system supports extended attributes.
  args.push('--sidecar', join(folder, 'metadata'), join(folder, 'buckets'));
  const env = {
    HOME: folder,
    ROOT_ACCESS_KEY_ID: credentials.accessKeyId,
    ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const stopChild = stopperOf(child);
  try {
    await listening(child, { path: socket });
  } catch (error) {
    await stopChild();
    throw error;
  }
  const proxy = await startFaultProxy({ path: socket });
  return {
    location: locationOf(proxy, BUCKET, credentials),
    proxy,
    stop: async () => {
      await proxy.close();
      await stopChild();
      await rm(folder, { recursive: true });
    },
  };
}

function locationOf(
  proxy: FaultProxy,
  bucket: string,
  credentials: NonNullable<S3Location['credentials']>,
): S3Location {
  return {
    bucket,
    root: `test-${randomBytes(8).toString('hex')}/`,
    endpoint: `http://${proxy.host}:${proxy.port}`,
    region: 'us-east-1',
    credentials,
    pathStyle: true,
  };
}

/** Waits until the server accepts connections, because it does not report when it is ready. */
async function listening(child: ChildProcess, target: NetConnectOpts): Promise<void> {
  const said: string[] = [];
  child.stderr?.on('data', (piece: Buffer) => said.push(piece.toString()));
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const socket = connect(target);
    try {
      await once(socket, 'connect');
      return;
    } catch (error) {
      const isOver = child.exitCode !== null || performance.now() > deadline;
      if (isOver) throw new Error(`no S3 server: ${said.join('')}`, { cause: error });
    } finally {
      socket.destroy();
    }
    await delay(10);
  }
}

/** Returns a function that stops the program. The program also exits when this process exits. */
function stopperOf(child: ChildProcess): () => Promise<void> {
  const ended = once(child, 'exit');
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  return async () => {
    process.off('exit', kill);
    kill();
    await ended;
  };
}
