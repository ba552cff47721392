/** Starts connections to programs that print a line of JSON when they listen on a socket. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { SandboxError } from './sandbox.ts';

const START_TIMEOUT_MS = 20_000;

/** Resolves when the program listens. Kills the program if it does not listen in time.
 *  @param complaint returns the program's last error output
 *  @throws SandboxError with the program's name as its stage */
export async function untilListening(
  name: string,
  started: ChildProcess & { readonly stdout: Readable },
  complaint: () => string,
): Promise<void> {
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  const failed = once(started, 'exit', { signal: timeout }).then(([code]) => {
    throw new Error(`the ${name} exited with code ${String(code)}`);
  });
  try {
    await Promise.race([once(createInterface({ input: started.stdout }), 'line'), failed]);
  } catch (cause) {
    started.kill('SIGKILL');
    throw new SandboxError(name, `the ${name} did not start (${complaint()})`, { cause });
  }
  failed.catch(() => undefined);
}

/** Connects to a program's socket.
 *  @throws SandboxError with the program's name as its stage, if the program does not accept the connection */
export async function connectTo(name: string, path: string): Promise<Socket> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (cause) {
    throw new SandboxError(name, `the ${name} does not accept connections`, { cause });
  }
  return socket;
}
