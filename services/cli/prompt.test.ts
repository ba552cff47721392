/** Tests prompts at a real terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

describe('a confirmation at a terminal', () => {
  const id = '019aa3f2-5b1c-7d2e-9f30-4a1b2c3d4e5f';
  /** Runs a command at a terminal, and forwards its input and output. */
  const terminal =
    'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

  test.each([
    ['n\n', 130, [], 'Nothing was changed.'],
    ['\n', 130, [], 'Nothing was changed.'],
    ['\u0004', 130, [], 'Nothing was entered.'],
    ['yes\n', 0, [`DELETE /api/v1/schedules/${id}`], ''],
  ])(
    'exits with the code $1 after the answer "$0"',
    async (answer, expectedCode, expectedRequests, problem) => {
      const requests: string[] = [];
      const server = createServer(({ method, url: path }, response) => {
        requests.push(`${method} ${path}`);
        response.writeHead(204, { 'X-Request-Id': '1' }).end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const main = fileURLToPath(new URL('main.ts', import.meta.url));
      const child = spawn(
        'python3',
        ['-c', terminal, process.execPath, main, 'schedules', 'delete', id],
        {
          env: {
            ...process.env,
            ORCHESTRATOR_URL: url,
            ORCHESTRATOR_TOKEN: 'orch_x',
            TERM: 'dumb',
          },
        },
      );
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (piece: string) => {
        const isAsked = output.includes('[y/N]');
        output += piece;
        if (!isAsked && output.includes('[y/N]')) child.stdin.write(answer);
      });
      const [code] = await once(child, 'close');
      await once(server.close(), 'close');
      expect([code, requests]).toEqual([expectedCode, expectedRequests]);
      expect(output).toContain(`Delete a schedule; its history stays available (${id})? [y/N]`);
      expect(output).toContain(problem);
    },
  );
});
