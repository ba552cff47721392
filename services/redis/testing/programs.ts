/** Finds the third-party programs that some test suites need, if they are installed on this machine. */
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OptionalService } from '../../../scripts/testing/optional-service.ts';
import { RawClient } from './raw-client.ts';

const run = promisify(execFile);

/** Finds a program of Debian's packages redis-server and redis-tools. */
export function redisProgram(
  name: 'redis-server' | 'redis-cli' | 'redis-benchmark',
): OptionalService {
  return {
    service: name,
    found: onPath(name),
    reason: 'it is not installed (redis-server, redis-tools)',
  };
}

/** Finds a Python with redis-py: the interpreter named by ORCH_TEST_REDIS_PY, or the system's own. */
export function redisPy(): OptionalService {
  const candidates = [
    process.env['ORCH_TEST_REDIS_PY'],
    '.toolchain/redis-py/bin/python',
    'python3',
  ];
  const found = candidates.find((python) => python !== undefined && hasRedisPy(python));
  return { service: 'redis-py', found, reason: 'no Python here has the package redis' };
}

const goRedisClient = '.toolchain/go/bin/go-redis-client';

/** Finds the program built from `go-redis/` by `.ci/run`. */
export function goRedis(): OptionalService {
  return {
    service: 'go-redis',
    found: existsSync(goRedisClient) ? goRedisClient : undefined,
    reason: `run CGO_ENABLED=0 go build -C services/redis/testing/go-redis -trimpath -o "$PWD/${goRedisClient}"`,
  };
}

function hasRedisPy(python: string): boolean {
  try {
    execFileSync(python, ['-c', 'import redis'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Runs a program and returns its output. @throws if the program fails */
export async function output(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { ...process.env, ...environment };
  const { stdout } = await run(program, args, {
    env,
    timeout: 60_000,
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}

export interface RealRedis {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a real Redis server with a password, on a free port and without persistence. */
export async function startRealRedis(program: string, password: string): Promise<RealRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--requirepass', password, '--save', '', '--dir', folder];
  const server = spawn(program, [...args, '--bind', '127.0.0.1'], { stdio: 'ignore' });
  await waitUntilResponsive(server, port);
  return {
    port,
    close: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function waitUntilResponsive(server: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error('redis-server exited during startup');
    const client = await RawClient.open(port).catch(() => undefined);
    const reply = await client?.call('PING').catch(() => undefined);
    client?.close();
    if (reply !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
