/** An observer outside the platform, which receives the reports of scripts. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Journal } from './journal.ts';

export interface Observer {
  /** The source of a script that reports its start, progress and end. */
  readonly source: string;
  close(): void;
}

/** Listens on a free port of this machine. */
export async function startObserver(journal: Journal): Promise<Observer> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // the process was killed while it sent a report
    createInterface(socket).on('line', (line) => {
      const [what, run = '', script = '', process = ''] = line.split(' ');
      if (what === 'started' || what === 'alive' || what === 'ended')
        journal.note({ what, run, script, process });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { source: sourceFor(port), close: () => void server.close() };
}

const beats = 10;

const sourceFor = (port: number): string => `
import os, socket, time
name = f"{os.environ['ORCH_RUN_ID']} {os.environ['ORCH_SCRIPT_ID']} {os.urandom(4).hex()}"
observer = socket.create_connection(("127.0.0.1", ${port}))
report = lambda what: observer.sendall(f"{what} {name}\\n".encode())
report("started")
for _ in range(${beats}):
    time.sleep(0.05)
    report("alive")
report("ended")
`;
