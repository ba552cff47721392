/** A Unix socket whose server process is stopped and whose backlog is full. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const program = `
  const server = require('node:net').createServer();
  server.listen({ path: process.argv[1], backlog: 1 }, () => process.stdout.write('listening'));`;

/** Makes every later connection to `path` fail with `EAGAIN`. */
export async function startFullSocket(path: string): Promise<{ close(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  const waiting: Socket[] = [];
  for (let isFull = false; !isFull;) {
    const socket = connect(path);
    waiting.push(socket);
    isFull = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    });
  }
  return {
    close: async () => {
      for (const socket of waiting) socket.destroy();
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
