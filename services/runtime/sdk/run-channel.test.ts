import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import Type from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answered, sdkCall } from './call.ts';
import { RunChannel } from './run-channel.ts';

let folder: string;
let server: Server;
const begun = Promise.withResolvers<void>();
const turn = Promise.withResolvers<void>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-channel-'));
  const path = join(folder, 'platform.sock');
  const channel = new RunChannel(
    { path, server: path, token: '' },
    {
      calls: {
        wait: sdkCall({
          arguments: Type.Object({}),
          handle: async () => {
            begun.resolve();
            await turn.promise;
            return answered('at last');
          },
        }),
      },
      context: {
        run: { runId: '' } as ClaimedRun,
        log: { mask: () => undefined, masked: (line) => line, maskedStart: (line) => line },
        spend: () => true,
      },
      logger: { error: () => undefined },
      onClose: () => undefined,
      timeoutMs: 50,
    },
  );
  server = createServer({ allowHalfOpen: true }, (socket) => channel.accept(socket));
  server.listen(path);
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await once(server, 'close');
  await rm(folder, { recursive: true });
});

const connected = (): Socket =>
  connect({ path: join(folder, 'platform.sock'), allowHalfOpen: true });

test('a client can be idle longer while it waits for a response than while it sends a request', async () => {
  const caller = connected();
  caller.end('{"call":"wait"}\n');
  await begun.promise;
  const idle = connected();
  idle.resume();
  await once(idle, 'end');
  idle.destroy();
  turn.resolve();
  expect(await text(caller)).toBe('{"ok":true,"result":"at last"}\n');
});
