/** Executes environment builds in the sandbox, because they execute untrusted code. */
import { randomUUID } from 'node:crypto';
import type { BuildCommand, BuildRunner } from './environments/build-runner.ts';
import type { Python } from './sandbox/python.ts';
import type { PreparedRun, RunExit, RunSpec, Sandbox } from './sandbox/sandbox.ts';

const mebibyte = 1024 * 1024;

// Changes to a folder and executes a command. A sandboxed process starts in its workspace, but a build must start in
// its project folder.
const startIn = 'import os, sys; os.chdir(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])';

const limits: RunSpec['limits'] = {
  cpuSeconds: 3600,
  memoryBytes: 4096 * mebibyte,
  addressSpaceBytes: null,
  openFiles: 1024,
  processes: 256,
  // No time limit is set here, because environments abort builds after their own timeout.
  wallClockSeconds: null,
  // Must include the package cache, which grows with each build.
  diskBytes: 8192 * mebibyte,
};

export interface SandboxedBuildsOptions {
  readonly sandbox: Sandbox;
  readonly python: Python;
  /** Paths that are hidden from all builds. */
  readonly hidden: readonly string[];
  /** How long a build may continue if the runtime hangs. */
  readonly leaseMs: number;
}

/** Executes builds in the sandbox, with network access but without persistent data. A build may use more memory and
 *  files than a run. */
export function sandboxedBuilds(options: SandboxedBuildsOptions): BuildRunner {
  return {
    run: async (command) => {
      command.signal.throwIfAborted();
      const prepared = await options.sandbox.prepare(specOf(options, command), {
        output: (stream, chunk) => command.onOutput(stream, chunk),
        sample: () => undefined,
      });
      const exit = await ending(prepared, options.leaseMs, command.signal);
      if (exit.detail !== null) await command.onOutput('stderr', Buffer.from(`${exit.detail}\n`));
      return { exitCode: exit.exitCode };
    },
  };
}

async function ending(
  prepared: PreparedRun,
  leaseMs: number,
  signal: AbortSignal,
): Promise<Extract<RunExit, { kind: 'exited' }>> {
  const kill = () => prepared.kill();
  signal.addEventListener('abort', kill);
  const heartbeat = setInterval(() => prepared.heartbeat(leaseMs), leaseMs / 3);
  try {
    prepared.go();
    const exit = await prepared.finished;
    await prepared.closed;
    if (exit.kind === 'exited') return exit;
    throw new Error(`the build could not be started: ${exit.message}`);
  } finally {
    clearInterval(heartbeat);
    signal.removeEventListener('abort', kill);
  }
}

function specOf(options: SandboxedBuildsOptions, command: BuildCommand): RunSpec {
  return {
    runId: randomUUID(),
    scriptId: command.scriptId,
    // Builds run as a separate user, so that the script cannot change the installed packages.
    user: `build-${command.scriptId}`,
    argv: [options.python.executable, '-I', '-S', '-c', startIn, command.cwd, ...command.argv],
    env: command.env,
    workspaceEnv: [],
    files: [],
    dataFolder: null,
    readOnly: [...options.python.prefixes, ...command.readable],
    readWrite: command.writable,
    hidden: options.hidden,
    listenPorts: [],
    limits,
    leaseMs: options.leaseMs,
    stopGraceMs: 0,
  };
}
