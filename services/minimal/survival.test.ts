/** Kills the real processes during runs, and checks that no data is lost. */
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, Product, until } from './testing/product.ts';

const lines = 50;
const marker = `1000.${process.pid}`;

/** Writes a line every tenth of a second, and starts a child process that would outlive the script. */
const steadyScript = `
import subprocess, sys, time
subprocess.Popen(['sleep', '${marker}'])
for number in range(${lines}):
    print('line', number)
    time.sleep(0.1)
print('to stderr', file=sys.stderr)
`;

const endlessScript = `
import subprocess, time
subprocess.Popen(['sleep', '${marker}'], start_new_session=True)
print('up')
time.sleep(1000)
`;

let product: Product;
let temporary: string;
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'orch-survival-'));
  await chmod(temporary, 0o755);
  product = await Product.start({
    variables: {
      ORCH_LEASE_SECONDS: '8',
      ORCH_RUNTIME_SLOTS: '4',
      ORCH_DRAIN_SECONDS: '30',
      TMPDIR: temporary,
    },
  });
}, 120_000);
afterAll(async () => {
  const left = await product.stop();
  await product.remove();
  await rm(temporary, { recursive: true });
  expect(left.filter(isAlive)).toEqual([]);
});

describe('an active run', { timeout: 120_000 }, () => {
  test('finishes with complete log and audit entries when the backend and the scheduler are killed', async () => {
    const runId = await startedRun(steadyScript);
    process.kill(await product.pidOf('backend'), 'SIGKILL');
    await product.untilHealthy();
    await expectWhole(runId);
    // The scheduler writes the audit list, so this shows that the scheduler works again.
    await until('the end of the run is in the audit list', async () =>
      (await actionsOn(runId)).includes('run_finished') ? true : undefined,
    );
    expect(await actionsOn(runId)).toEqual(['run_queued', 'run_started', 'run_finished']);
  });

  test('finishes with a complete log when Postgres is killed', async () => {
    const runId = await startedRun(steadyScript);
    // Shuts the database down immediately. To its clients, this looks like a crash.
    process.kill(await product.postgresPid(), 'SIGQUIT');
    await expectWhole(runId);
  });

  test('finishes before the runtime stops', async () => {
    const runId = await startedRun(steadyScript);
    process.kill(await product.pidOf('runtime'), 'SIGTERM');
    await expectWhole(runId);
  });

  test('is recorded as lost exactly once when the runtime is killed, and leaves no processes', async () => {
    const runId = await startedRun(endlessScript);
    const made = await places();
    expect(made).toContain(`runs/${runId}`);
    expect(made.filter((name) => name.startsWith('orch-sdk-'))).toHaveLength(1);
    process.kill(await product.pidOf('runtime'), 'SIGKILL');
    const run = await product.untilFinished(runId);
    expect(run).toMatchObject({ status: 'failed', failure_reason: 'runtime_lost' });
    await untilNoneLeft();
    const next = await startedRun(steadyScript);
    await expectWhole(next);
    expect((await places()).filter((name) => made.includes(name))).toEqual([]);
    expect(await product.runState(runId)).toMatchObject({ failure_reason: 'runtime_lost' });
  });

  test('ignores the late report from a runtime that hung until its lease expired', async () => {
    const runId = await startedRun(endlessScript);
    const runtime = await product.pidOf('runtime');
    process.kill(runtime, 'SIGSTOP');
    const run = await product.untilFinished(runId);
    expect(run).toMatchObject({ status: 'failed', failure_reason: 'runtime_lost' });
    await untilNoneLeft();
    process.kill(runtime, 'SIGCONT');
    await expectWhole(await startedRun(steadyScript));
    expect(await product.runState(runId)).toEqual(run);
  });
});

/** Starts a run and waits for its first line. */
async function startedRun(source: string): Promise<string> {
  const scriptId = await product.script('survivor', { 'main.py': source });
  const { run_id: runId } = await product.run(scriptId);
  await until('the first line is there', async () =>
    (await product.log(runId)).length > 0 ? true : undefined,
  );
  return runId;
}

/** Returns a run's entries in the audit list. */
async function actionsOn(runId: string): Promise<readonly string[]> {
  const path = `/audit?resource=run-${runId}&order=asc`;
  const { items } = await product.call<{ items: { action: string }[] }>('GET', path);
  return items.map(({ action }) => action);
}

async function expectWhole(runId: string): Promise<void> {
  const run = await product.untilFinished(runId);
  expect(run).toMatchObject({ status: 'success', exit_code: 0, log_lines: lines + 1 });
  const log = await product.log(runId);
  expect(log.map((line) => line.seq)).toEqual(log.map((_, index) => index + 1));
  expect(log.filter((line) => line.stream === 'stdout').map((line) => line.text)).toEqual(
    Array.from({ length: lines }, (_, number) => `line ${number}`),
  );
  expect(log.filter((line) => line.stream === 'stderr')).toHaveLength(1);
  await untilNoneLeft();
}

async function untilNoneLeft(): Promise<void> {
  await until('no process of a run is left', async () =>
    (await marked()).length === 0 ? true : undefined,
  );
}

/** Lists the folders and control groups that the runtime has created. */
async function places(): Promise<readonly string[]> {
  const runs = await readdir(join(product.dataDir, 'runtime', 'runs'));
  return [
    ...(await readdir(temporary)).filter((name) => name.startsWith('orch-')),
    ...runs.filter((name) => !name.startsWith('.')).map((name) => `runs/${name}`),
  ];
}

/** Lists the processes that the scripts have started, in any process group. */
async function marked(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return commands.filter((command) => command.includes(marker));
}
