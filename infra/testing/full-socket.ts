/** A server on a Unix socket that accepts nobody: its process is stopped, and its queue is full. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const program = `require('node:net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => console.log('listening'))`;

/** Whoever connects to `path` now is refused with `EAGAIN`. */
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
