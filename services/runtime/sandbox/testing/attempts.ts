/** Attempts attacks in a sandbox that the caller has configured. */
import { spawn } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePorts } from '#infra/testing/free-ports.ts';
import { livingProcessesOf, NO_LIMITS, portOf, processesWith, until, type Bench } from './bench.ts';
import type { Family } from './attacks.ts';

const MIB = 1024 * 1024;
const LIMITS = {
  ...NO_LIMITS,
  cpuSeconds: 1,
  memoryBytes: 64 * MIB,
  addressSpaceBytes: 2048 * MIB,
  openFiles: 100,
  processes: 30,
  diskBytes: 8 * MIB,
};
const AT_ONCE = 4;
// A user ID that no machine uses.
const UNKNOWN_USER = 54_321;

/** Names of the attacks that succeeded. */
export type Attempt = (bench: Bench, names: readonly string[]) => Promise<readonly string[]>;

export const ATTEMPTS: Readonly<Record<Family['way'], Attempt>> = {
  /** Attacks on the processes, files, memory and sockets of another script and of the platform. */
  reach: async (bench) => {
    const name = `victim-${process.pid}-${bench.sandbox.launcherPid}`;
    const platform = join(bench.folder, 'platform');
    const [data, secret] = [join(bench.folder, 'data', 'victim'), join(platform, 'secret')];
    await mkdir(platform);
    await writeFile(secret, 'secret', { mode: 0o600 });
    const socket = join(platform, 'socket');
    const server = createServer((connection) => connection.resume()).listen(socket);
    await until(() => server.listening);
    await chmod(socket, 0o600);
    const own = spawn('sleep', ['600'], { env: { SECRET: 'secret' }, stdio: 'ignore' });
    const entry = join(bench.folder, 'sdk');
    const who = {
      scriptId: 'victim',
      user: 'victim',
      dataFolder: data,
      readWrite: [entry],
      sdk: { path: entry, server: socket, token: 'token' },
    };
    const victim = await bench.start(bench.spec('victim.py', [name], who));
    await victim.seen('waiting');
    const where = {
      pid: victim.run.pid,
      workspace: join(bench.folder, 'runs', victim.runId, 'files'),
      file: Number(/file (\d+)/.exec(victim.output.stdout)?.[1]),
      entry,
      segment: Number(/segment (-?\d+)/.exec(victim.output.stdout)?.[1]),
      platform: own.pid,
      data,
      name,
      secret,
      socket,
    };
    const { stdout, stderr } = await bench.run('reaches.py', [JSON.stringify(where)]);
    victim.run.kill();
    await victim.outcome();
    own.kill('SIGKILL');
    server.close();
    await rm(`/dev/shm/${name}`, { force: true });
    return listIn(stdout, stderr);
  },

  take: async (bench, names) =>
    await passing(names, async (name) => {
      // Allows more CPU time, because some attacks create many files.
      const limits = { ...LIMITS, ...(/^empty|links$/.test(name) && { diskBytes: MIB }) };
      const outcome = await bench.run('takes.py', [name], { limits, user: 'greedy' });
      return outcome.stdout.includes('through');
    }),

  /** Attacks that try to survive the end of the run. */
  stay: async (bench, names) =>
    await passing(names, async (name) => {
      const mark = `mark-${process.pid}-${bench.sandbox.launcherPid}-${name.replaceAll(' ', '-')}`;
      const running = await bench.start(bench.spec('stays.py', [name, mark]));
      await running.seen('there');
      running.run.stop(20);
      await running.run.finished;
      const left = await processesWith(mark);
      const group = Number(/there (\d+)/.exec(running.output.stdout)?.[1]);
      // Finds the processes by their command line, because their IDs change constantly and differ within a namespace.
      const isLeft = !running.run.layers.includes('pid_namespace') && (await endGroup(group));
      for (const pid of left) signal(pid, 'SIGKILL');
      return isLeft || left.length > 0;
    }),

  gain: async (bench) => {
    const program = join(bench.folder, 'become');
    await copyFile('/usr/bin/id', program);
    await chmod(program, 0o4755);
    const closed = join(bench.folder, 'closed');
    await writeFile(closed, '', { mode: 0o600 });
    if (process.getuid?.() === 0) await chown(closed, UNKNOWN_USER, UNKNOWN_USER);
    const readOnly = [...bench.python.prefixes, program, closed];
    const { stdout, stderr } = await bench.run('gains.py', [program, closed], { readOnly });
    return listIn(stdout, stderr);
  },

  call: async (bench) => {
    const { stdout, stderr } = await bench.run('system_calls.py');
    if (stderr !== '') throw new Error(stderr);
    const answers = Object.entries(JSON.parse(stdout) as Record<string, string>);
    return answers.filter(([, answer]) => answer === 'done').map(([name]) => name);
  },

  listen: async (bench, names) => {
    const server = createServer((connection) => connection.destroy());
    server.listen({ host: '127.0.0.1', port: 0, reusePort: true });
    await until(() => server.listening);
    const ports = [...(await freePorts(1)), portOf(server)];
    const { stdout, stderr } = await bench.run('listens.py', [...ports.map(String), ...names]);
    server.close();
    return listIn(stdout, stderr);
  },

  break: async (bench, names) =>
    await passing(names, async () => {
      const { exit } = await bench.run('kills_group.py');
      return exit.kind === 'lost';
    }),
};

/** Sends a signal.
 *  @param pid a process ID or, if negative, a process group
 *  @returns whether the process or group existed */
/** Kills the processes of a group.
 *  @returns whether any of them was alive. A dead process still exists until its parent has read its exit status */
async function endGroup(group: number): Promise<boolean> {
  // Suspends a chain of forks, so that its processes can be listed.
  if (!signal(-group, 'SIGSTOP')) return false;
  const alive = await livingProcessesOf(group);
  signal(-group, 'SIGKILL');
  return alive.length > 0;
}

/** Sends a signal.
 *  @returns whether the process or group exists */
function signal(pid: number, name: 'SIGSTOP' | 'SIGKILL'): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

function listIn(stdout: string, stderr: string): readonly string[] {
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout) as readonly string[];
}

/** Attempts several attacks concurrently.
 *  @returns the attacks that succeeded */
async function passing(
  names: readonly string[],
  passes: (name: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const waiting = [...names];
  const passed: string[] = [];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      if (await passes(name)) passed.push(name);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return passed;
}
