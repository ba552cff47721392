/** Executes build commands as plain child processes, without a sandbox. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { BuildCommand, BuildRunner } from '../build-runner.ts';

export class ChildProcessRunner implements BuildRunner {
  readonly commands: BuildCommand[] = [];

  async run(command: BuildCommand): Promise<{ exitCode: number | null }> {
    this.commands.push(command);
    const { argv, cwd, env, onOutput, signal } = command;
    signal.throwIfAborted();
    // The command gets its own process group, so that all its descendants can be killed.
    const child = spawn(argv[0], argv.slice(1), {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(child, 'close') as Promise<[number | null]>;
    const kill = () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    signal.addEventListener('abort', kill);
    const read = async (stream: 'stdout' | 'stderr', output: Readable) => {
      for await (const bytes of output) await onOutput(stream, bytes as Buffer);
    };
    const [[exitCode]] = await Promise.all([
      closed,
      read('stdout', child.stdout),
      read('stderr', child.stderr),
    ]);
    signal.removeEventListener('abort', kill);
    return { exitCode };
  }
}
