/** Sends each line that a process prints to every socket immediately: `line-server.ts <python> <folder>`. Prints its
 *  port. Starts the process at the first connection. */
import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { WebSocketServer } from 'ws';

const [python = '', cwd] = process.argv.slice(2);
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.once('listening', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
server.once('connection', () => {
  const child = spawn(python, ['main.py'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  let seq = 0;
  createInterface(child.stdout).on('line', (text) => {
    seq += 1;
    const item = { seq, time: new Date().toISOString(), stream: 'stdout', text };
    const frame = Buffer.from(JSON.stringify({ type: 'log', items: [item] }));
    for (const socket of server.clients) socket.send(frame, { binary: false });
  });
});
