import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { Bench, gone, NAMESPACES, NO_LIMITS, systemPython, until } from './testing/bench.ts';
import { namespaces } from './testing/machine.ts';
import { residentSpec, runResident } from './testing/resident-runs.ts';

/** Returns the states of a process and its children. */
async function stateOfFamily(pid: number) {
  const found: { readonly pid: number; readonly state: string }[] = [];
  for (const name of await readdir('/proc')) {
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '');
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(name) === pid || Number(parent) === pid) found.push({ pid: Number(name), state });
  }
  return found;
}

const callOf = (stdout: string) => Number(/call (\d+)/.exec(stdout)?.[1]);

describeWith(namespaces, 'a resident process', () => {
  let bench: Bench;
  let scripts = 0;
  /** Each test has its own script. */
  let own: { scriptId: string };
  beforeAll(async () => {
    bench = await Bench.open({ maxResidents: 8 });
  });
  beforeEach(() => {
    scripts += 1;
    own = { scriptId: `resident-${scripts}` };
  });
  afterAll(async () => {
    await bench.close();
    expect(bench.log).toEqual([]);
  });

  test('serves consecutive runs, and imports modules once', async () => {
    const first = await runResident(bench, {}, own);
    const second = await runResident(bench, {}, own);
    expect(first.exit).toMatchObject({ kind: 'exited', exitCode: 0, signal: null, reason: null });
    expect(first.stdout).toMatch(/^imported\ncall 1 /);
    expect(second.stdout).toMatch(/^call 2 /);
    expect(second.exit).toMatchObject({ exitCode: 0, usage: { maxThreads: 1 } });
  });

  test("reports an exception with only the script's frames, and serves the next run", async () => {
    const { exit, stderr } = await runResident(bench, { action: 'fail' }, own);
    expect(exit).toMatchObject({ exitCode: 1, signal: null, reason: null });
    expect(stderr).toMatch(/^Traceback .*\n {2}File ".*main\.py", line \d+, in handler\n/);
    expect(stderr).toMatch(/\nValueError: broken\n$/);
    expect(callOf((await runResident(bench, {}, own)).stdout)).toBe(2);
  });

  test.each([
    ['exits', { action: 'exit' }, { exitCode: 3, signal: null, reason: null }],
    ['crashes', { action: 'kill' }, { exitCode: null, signal: 'SIGSEGV', reason: null }],
  ])(
    'that %s ends its run with the exit status, and is replaced for the next run',
    async (_, params, end) => {
      await runResident(bench, {}, own);
      expect((await runResident(bench, params, own)).exit).toMatchObject(end);
      expect((await runResident(bench, {}, own)).stdout).toMatch(/^imported\ncall 1 /);
    },
  );

  test('is terminated at the time limit of its run', async () => {
    await runResident(bench, {}, own);
    const change = { ...own, limits: { ...NO_LIMITS, wallClockSeconds: 2 } };
    await runResident(bench, {}, change);
    const { exit } = await runResident(bench, { action: 'hang' }, change);
    expect(exit).toMatchObject({ signal: 'SIGTERM', reason: 'timeout' });
    expect((await runResident(bench, {}, change)).stdout).toMatch(/^imported\ncall 1 /);
  });

  test('measures the processor time of each run separately', async () => {
    const change = { ...own, limits: { ...NO_LIMITS, cpuSeconds: 1 } };
    await runResident(bench, {}, change);
    const burnt = await runResident(bench, { action: 'burn' }, change);
    expect(burnt.exit).toMatchObject({ signal: 'SIGKILL', reason: 'cpu_limit' });
    const next = await runResident(bench, {}, change);
    expect(next.exit).toMatchObject({ exitCode: 0 });
    expect(next.stdout).toMatch(/^imported\n/);
  });

  test('is terminated during the first run that exceeds the memory limit', async () => {
    const change = { ...own, limits: { ...NO_LIMITS, memoryBytes: 100 * 1024 * 1024 } };
    const grow = { action: 'grow', bytes: 40 * 1024 * 1024 };
    expect((await runResident(bench, grow, change)).exit).toMatchObject({ exitCode: 0 });
    expect((await runResident(bench, grow, change)).exit).toMatchObject({ exitCode: 0 });
    const third = await runResident(bench, { ...grow, seconds: 60 }, change);
    expect(third.exit).toMatchObject({ reason: 'memory_limit' });
    expect((await runResident(bench, {}, change)).stdout).toMatch(/^imported\ncall 1 /);
  });

  test('is terminated when its run is stopped', async () => {
    await runResident(bench, {}, own);
    const running = await bench.start(residentSpec(bench, { action: 'hang' }, own));
    await running.seen('hanging');
    running.run.stop();
    expect((await running.outcome()).exit).toMatchObject({ signal: 'SIGTERM', reason: 'stopped' });
    expect((await runResident(bench, {}, own)).stdout).toMatch(/^imported\ncall 1 /);
  });

  test('ignores a stop request for a finished run', async () => {
    const first = await runResident(bench, {}, own);
    const running = await bench.start(residentSpec(bench, {}, own));
    first.run.stop();
    first.run.kill();
    expect((await running.outcome()).exit).toMatchObject({ exitCode: 0, reason: null });
  });

  test('is killed when its runtime no longer renews the lease', async () => {
    await runResident(bench, {}, own);
    const running = await bench.start(
      residentSpec(bench, { action: 'hang' }, { ...own, leaseMs: 300 }),
    );
    expect((await running.outcome()).exit).toMatchObject({ reason: 'lease_lost' });
  });

  test('is suspended between two runs, with its threads and child processes', async () => {
    const { run } = await runResident(bench, { action: 'child' }, own);
    const states = async () => (await stateOfFamily(run.pid)).map(({ state }) => state);
    await until(async () => isDeepStrictEqual(await states(), ['T', 'T']));
    const hanging = await bench.start(residentSpec(bench, { action: 'hang' }, own));
    await hanging.seen('hanging');
    expect(await states()).not.toContain('T');
    hanging.run.kill();
    await hanging.outcome();
  });

  test('assigns output that is written between two runs to neither run', async () => {
    const first = await runResident(bench, { action: 'background' }, own);
    const { stdout } = first;
    const second = await runResident(bench, {}, own);
    expect(stdout).toContain('background\n');
    expect(first.stdout).toBe(stdout);
    expect(second.exit).toMatchObject({ exitCode: 0 });
    expect(callOf(second.stdout)).toBe(2);
  });

  test('gets exactly the variables of the current run', async () => {
    const variables = { action: 'variables' };
    const secret = { ...own, env: { OWN_TOKEN: 'first' } };
    const first = await runResident(bench, variables, secret);
    expect(first.stdout).toContain("['ORCH_PARAMS', 'ORCH_RUN_ID', 'OWN_TOKEN']");
    const both = { ...own, env: { ...secret.env, ORCH_ATTEMPT: '2' } };
    const second = await runResident(bench, variables, both);
    expect(second.stdout).toContain("['ORCH_ATTEMPT', 'ORCH_PARAMS', 'ORCH_RUN_ID', 'OWN_TOKEN']");
    const third = await runResident(bench, variables, secret);
    expect(third.stdout).toContain("['ORCH_PARAMS', 'ORCH_RUN_ID', 'OWN_TOKEN']");
    expect(callOf(third.stdout)).toBe(3);
  });

  test("returns the handler's result as output, and reports a result that JSON cannot represent", async () => {
    const change = { ...own, limits: { ...NO_LIMITS, wallClockSeconds: 100 } };
    const right = await runResident(bench, { action: 'return' }, change);
    expect(right.stderr).toMatch(/output \{"calls": 1, "deadline": "\d{4}-.*\+00:00"\}/);
    const wrong = await runResident(bench, { action: 'return', wrong: true }, change);
    expect(wrong.exit).toMatchObject({ exitCode: 1 });
    expect(wrong.stderr).toMatch(
      /HandlerError: main\.py: handler returned set, .* Return None or a JSON value/,
    );
  });

  test('receives only the payload of the current run', async () => {
    const path = join(bench.folder, 'payload');
    await writeFile(path, 'body \u{e9}', { mode: 0o400 });
    const payload = { action: 'payload' };
    const env = { ORCH_PAYLOAD_HEADERS: '{"x-kind":"a"}' };
    const first = await runResident(bench, payload, { ...own, env }, { payload: path });
    expect(first.stdout).toContain(
      String.raw`{'headers': {'x-kind': 'a'}, 'body': b'body \xc3\xa9'}`,
    );
    expect((await runResident(bench, payload, own)).stdout).toContain('None\ncall 2');
  });

  test('also masks the secrets of earlier runs', async () => {
    const masked: string[] = [];
    const log = { mask: (values: readonly string[]) => void masked.push(...values) };
    const read = { log: { ...log, maskedValues: () => ['a secret'] } };
    await runResident(bench, {}, own, read);
    expect(masked).toEqual([]);
    await runResident(bench, {}, own, { log: { ...log, maskedValues: () => [] } });
    expect(masked).toEqual(['a secret']);
  });

  test('reports a missing payload file', async () => {
    await runResident(bench, {}, own);
    const { exit } = await runResident(bench, {}, own, { payload: join(bench.folder, 'missing') });
    expect(exit).toMatchObject({ kind: 'failed', stage: 'payload' });
    expect((await runResident(bench, {}, own)).stdout).toMatch(/^imported\ncall 1 /);
  });

  test('serves later runs only in the parent process if the handler returns in a forked child', async () => {
    await runResident(bench, { action: 'fork' }, own);
    const calls = [];
    for (let run = 0; run < 3; run += 1)
      calls.push(callOf((await runResident(bench, {}, own)).stdout));
    expect(calls).toEqual([2, 3, 4]);
  });

  test.each([
    [
      'files',
      {
        files: [
          {
            path: 'main.py',
            source: join(import.meta.dirname, 'fixtures/resident.py'),
            mode: 0o600,
          },
        ],
      },
      {},
    ],
    ['variables', { env: { OWN_NAME: 'new' } }, {}],
    ['limits', { limits: { ...NO_LIMITS, processes: 50 } }, {}],
    ['secrets', {}, { revision: '2' }],
  ])('is replaced when the %s of the script change', async (_, change, resident) => {
    await runResident(bench, {}, own);
    const { stdout } = await runResident(bench, {}, { ...own, ...change }, resident);
    expect(stdout).toMatch(/^imported\ncall 1 /);
    expect(bench.sandbox.scripts.filter((id) => id === own.scriptId)).toHaveLength(1);
  });

  test('is not shared with another script', async () => {
    await runResident(bench, {}, own);
    const { stdout } = await runResident(bench, {}, { scriptId: `${own.scriptId}-other` });
    expect(stdout).toMatch(/^imported\ncall 1 /);
  });

  test('exits when it has been idle for too long, and after its last permitted run', async () => {
    const idle = await bench.start(residentSpec(bench, {}, own, { idleSeconds: 0.05 }));
    await idle.outcome();
    await gone(idle.run.pid);
    const last = await bench.start(residentSpec(bench, {}, own, { maxRuns: 1 }));
    expect((await last.outcome()).exit).toMatchObject({ exitCode: 0 });
    await gone(last.run.pid);
  });

  test('is created for each concurrent run, and kept up to the configured number', async () => {
    const hang = { action: 'grow', bytes: 1, seconds: 0.3 };
    const two = { processes: 2 };
    const calls = async () =>
      (await Promise.all([1, 2, 3].map(() => runResident(bench, hang, own, two)))).map((one) =>
        callOf(one.stdout),
      );
    expect(await calls()).toEqual([1, 1, 1]);
    expect((await calls()).toSorted((one, other) => one - other)).toEqual([1, 2, 2]);
  });

  test('is terminated when its script is purged', async () => {
    const { run } = await runResident(bench, {}, own);
    await bench.sandbox.forget(own.scriptId);
    await gone(run.pid);
    expect(bench.sandbox.scripts).not.toContain(own.scriptId);
  });
});

test('without namespaces, each run of a resident script gets a new process', async () => {
  const python = await systemPython();
  const bench = await Bench.open({
    maxResidents: 8,
    without: NAMESPACES,
    lenient: true,
    ...(python && { python }),
  });
  try {
    const limits = { ...NO_LIMITS, cpuSeconds: 100 };
    for (let run = 0; run < 2; run += 1) {
      const { exit, stdout, stderr } = await runResident(bench, {}, { limits });
      expect([exit, stderr]).toMatchObject([{ kind: 'exited', exitCode: 0, reason: null }, '']);
      expect(stdout).toMatch(/^imported\ncall 1 /);
    }
    expect(bench.sandbox.scripts).toEqual([]);
  } finally {
    await bench.close();
  }
});
