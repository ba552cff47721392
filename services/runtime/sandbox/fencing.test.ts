import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLocalSandbox } from './local-sandbox.ts';
import { Bench, gone, NAMESPACES, parentOf, processesWith, until } from './testing/bench.ts';
import { answerOf } from './testing/with-modules.ts';

const onLog = (line: string): void => void process.stderr.write(`${line}\n`);
const RUNTIME = fileURLToPath(new URL('./testing/runtime-process.ts', import.meta.url));

describe.each([
  { kind: 'with all available layers', without: [] },
  { kind: 'without namespaces', without: NAMESPACES },
])('a launcher $kind', ({ without }) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open({ without });
  });
  afterAll(() => bench.close());

  /** Starts a run with a descendant that ignores all signals and has its own session. */
  async function startEscaping(mark: string) {
    const running = await bench.start(bench.spec('escape.py', [mark, 'stay']));
    await running.seen('held');
    expect(await processesWith(mark)).not.toEqual([]);
    return running;
  }

  test('kills all processes when the lease expires without a heartbeat', async () => {
    const mark = `mark-lease-${process.pid}-${without.length}`;
    const running = await startEscaping(mark);
    running.run.heartbeat(200);
    expect(await running.run.finished).toMatchObject({ reason: 'lease_lost', signal: 'SIGKILL' });
    expect(await processesWith(mark)).toEqual([]);
  });

  test('extends the lease when it receives a heartbeat', async () => {
    const spec = bench.spec('stubborn.py', ['polite'], { leaseMs: 1_500 });
    const running = await bench.start(spec);
    running.run.heartbeat(60_000);
    await running.seen('waiting');
    const startedAtMs = performance.now();
    await until(() => performance.now() - startedAtMs > 1_700);
    running.run.stop();
    expect(await running.run.finished).toMatchObject({ reason: 'stopped', exitCode: 7 });
  });

  test('kills all processes and removes all run folders when the runtime is killed', async () => {
    const mark = `mark-runtime-${process.pid}-${without.length}`;
    const folder = await mkdtemp(join(tmpdir(), 'orch-killed-'));
    // Scripts may run as other users, who must be able to enter the folder.
    await chmod(folder, 0o755);
    await mkdir(join(folder, 'runs'));
    const args = [RUNTIME, folder, without.join(), bench.python.executable, mark];
    const runtime = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [launcherPid] = (await once(createInterface({ input: runtime.stdout }), 'line')) as [
      string,
    ];
    expect(await processesWith(mark)).not.toEqual([]);
    runtime.kill('SIGKILL');
    await until(async () => (await processesWith(mark)).every((pid) => pid === runtime.pid));
    await gone(Number(launcherPid));
    expect(existsSync(join(folder, 'runs', 'run-1'))).toBe(false);
    await rm(folder, { recursive: true });
  });

  test('removes the leftovers of its killed predecessor and of killed supervisors', async () => {
    const mark = `mark-all-${process.pid}-${without.length}`;
    const folder = await mkdtemp(join(tmpdir(), 'orch-all-'));
    const runsFolder = join(folder, 'runs');
    await chmod(folder, 0o755);
    await mkdir(runsFolder);
    const left = [...without, 'cgroup'];
    const args = [RUNTIME, folder, left.join(), bench.python.executable, mark];
    const runtime = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(createInterface({ input: runtime.stdout }), 'line');
    const watching = [runtime.pid ?? 0, ...(await processesWith(runsFolder))];
    for (const pid of watching) process.kill(pid, 'SIGSTOP');
    for (const pid of watching) killIfThere(pid);
    await Promise.all(watching.map(gone));
    // The disabled layers include the namespace, which would end with its supervisor.
    if (without.length > 0) expect(await processesWith(mark)).not.toEqual([]);
    expect(existsSync(join(runsFolder, 'run-1'))).toBe(true);

    const python = bench.python.executable;
    const next = await startLocalSandbox({ python, runsFolder, without: left, onLog });
    expect(await processesWith(mark)).toEqual([]);
    expect(existsSync(join(runsFolder, 'run-1'))).toBe(false);
    await next.stop();
    await rm(folder, { recursive: true });
  });

  test('kills all processes and removes the run folder when a supervisor is killed', async () => {
    const mark = `mark-supervisor-${process.pid}-${without.length}`;
    const running = await startEscaping(mark);
    const init = await parentOf(running.run.pid);
    process.kill(await parentOf(init), 'SIGKILL');
    expect(await running.run.finished).toMatchObject({ kind: 'lost' });
    await until(async () => (await processesWith(mark)).length === 0);
    const folder = join(bench.folder, 'runs', running.runId);
    await until(() => !existsSync(folder));
  });

  test('terminates the run when its init process is killed', async () => {
    const mark = `mark-init-${process.pid}-${without.length}`;
    const running = await startEscaping(mark);
    process.kill(await parentOf(running.run.pid), 'SIGKILL');
    expect(await running.run.finished).toMatchObject({ signal: 'SIGKILL', reason: null });
    expect(await processesWith(mark)).toEqual([]);
  });

  test('leaves no processes behind when it is killed, and its successor accepts runs', async () => {
    const mark = `mark-launcher-${process.pid}-${without.length}`;
    const running = await startEscaping(mark);
    const launcherPid = bench.sandbox.launcherPid ?? 0;
    process.kill(launcherPid, 'SIGKILL');
    // The supervisor either dies with the launcher, or survives to kill processes that the kernel does not kill.
    expect(['lost', 'exited']).toContain((await running.run.finished).kind);
    await until(async () => (await processesWith(mark)).length === 0);
    await until(() => bench.sandbox.launcherPid !== launcherPid);
    const { exit } = await bench.run('hello.py');
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(bench.folder, 'runs', running.runId))).toBe(false);
  });
});

/** The process may have ended already, because the kernel kills some processes with their parents. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

test('messages from a process that died with an unread message are still received', async () => {
  expect(await answerOf('unread_order.py')).toEqual(['x', '']);
});
