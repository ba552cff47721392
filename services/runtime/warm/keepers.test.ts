import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import type { LocalSandboxOptions } from '../sandbox/local-sandbox.ts';
import { gone, NAMESPACES, parentOf, processesWith, until } from '../sandbox/testing/bench.ts';
import { namespaces } from '../sandbox/testing/machine.ts';
import { WarmBench } from './testing/warm-bench.ts';

const waits = { 'main.py': "print('waiting'); __import__('time').sleep(60)" };
const ends = { 'main.py': "print('done')" };

describeWith(namespaces, 'a script with a keeper', () => {
  let bench: WarmBench;
  afterEach(() => bench.close());

  async function opened(options: Partial<LocalSandboxOptions> = {}) {
    bench = await WarmBench.open(options);
    const { sandbox } = bench.bench;
    return { sandbox, keeper: await bench.kept(await bench.warm(ends)) };
  }

  test('completes its run when the keeper is killed, and starts its next run cold', async () => {
    const { sandbox, keeper } = await opened();
    const running = await bench.bench.start(await bench.warm(waits));
    await running.seen('waiting');
    process.kill(keeper, 'SIGKILL');
    await gone(keeper);
    const next = await bench.bench.start(await bench.warm(ends));
    expect(await next.outcome()).toMatchObject({ exit: { exitCode: 0 }, stdout: 'done\n' });
    running.run.stop();
    expect(await running.run.finished).toMatchObject({ reason: 'stopped' });
    await until(() => sandbox.keeperPids.length === 1 && sandbox.keeperPids[0] !== keeper);
  });

  test('starts its run cold when the keeper hangs', async () => {
    const { sandbox, keeper } = await opened({ warmPreparationMs: 300 });
    // Uses up the existing spare, so that the keeper must create another spare.
    const first = await bench.bench.start(await bench.warm(waits));
    process.kill(keeper, 'SIGSTOP');
    const run = async () => (await bench.outcome(await bench.warm(ends))).stdout;
    expect(await Promise.all([run(), run()])).toEqual(['done\n', 'done\n']);
    // Uses up the spares that were ready before the keeper was suspended.
    while (sandbox.keeperPids.includes(keeper)) expect(await run()).toBe('done\n');
    first.run.kill();
    await gone(keeper);
    await until(() => !sandbox.keeperPids.includes(keeper));
  });

  test('starts its run cold when the process that was prepared for the run is killed', async () => {
    const { keeper } = await opened();
    const held = await bench.bench.sandbox.prepare(await bench.warm(ends), ignoring);
    const supervisor = await parentOf(await parentOf(held.pid));
    expect(await parentOf(supervisor)).toBe(keeper);
    process.kill(supervisor, 'SIGKILL');
    expect(await held.finished).toMatchObject({ kind: 'lost' });
    await gone(held.pid);
    expect(await bench.outcome(await bench.warm(ends))).toMatchObject({ stdout: 'done\n' });
  });

  test('gets no more keepers after three of them have died, while other keepers remain', async () => {
    const { sandbox, keeper } = await opened();
    const { folder, python } = bench.bench;
    const [poisoned, tries] = [join(folder, 'poisoned'), join(folder, 'tries')];
    const program = `#!/bin/sh
[ -z "$ORCH_KEEPER" ] || { echo tried >> ${tries}; kill -9 $$; }
exec ${python.executable} "$@"
`;
    await writeFile(poisoned, program, { mode: 0o755 });
    const spec = await bench.warm(ends, { scriptId: 'script-poisoned' });
    const interpreter = { executable: poisoned, version: python.version };
    for (let run = 0; run < 5; run += 1) {
      const outcome = await bench.outcome({ ...spec, warm: { interpreter, modules: [] } });
      expect(outcome).toMatchObject({ exit: { exitCode: 0 }, stdout: 'done\n' });
      await sandbox.keepersMade;
    }
    expect(await readFile(tries, 'utf8')).toBe('tried\n'.repeat(3));
    expect(sandbox.keeperPids).toEqual([keeper]);
  });

  test.runIf(process.getuid?.() === 0)(
    'has a keeper with only the capabilities needed to contain runs, if the service runs as root',
    async () => {
      const { sandbox, keeper } = await opened();
      for (const pid of [sandbox.launcherPid, keeper]) {
        const status = await readFile(`/proc/${pid}/status`, 'utf8');
        const sets = [...status.matchAll(/^Cap(?:Prm|Eff|Bnd):\s+(\w+)$/gm)];
        // The permitted capabilities: chown, DAC override, fowner, kill, setgid, setuid, setpcap, chroot, ptrace,
        // admin, resource, setfcap, checkpoint restore. A container may grant fewer capabilities.
        for (const [, bits = ''] of sets) expect(BigInt(`0x${bits}`) & ~0x100812c01ebn).toBe(0n);
        expect(sets).toHaveLength(3);
      }
    },
  );

  test('cannot connect to its keeper', async () => {
    const { keeper } = await opened();
    const kills = {
      'main.py': `import os, signal
for pid in [os.getppid(), -1, *range(2, 400)]:
    if pid != os.getpid():
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
print('done')`,
    };
    const outcomes = await Promise.all(
      [kills, ends, kills].map(async (files) => await bench.outcome(await bench.warm(files))),
    );
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(['done\n', 'done\n', 'done\n']);
    expect(bench.bench.sandbox.keeperPids).toEqual([keeper]);
  });

  test('leaves no data from its runs in the keeper', async () => {
    await opened();
    const mark = `mark-warm-${process.pid}`;
    const leaves = {
      'main.py': `import os, subprocess, sys
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '${mark}'], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    __import__('time').sleep(600)`,
    };
    const { exit } = await bench.outcome(await bench.warm(leaves));
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(await processesWith(mark)).toEqual([]);
    const left = await readdir(join(bench.bench.folder, 'runs'));
    expect(left.filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test('gets a new keeper after a number of runs', async () => {
    const { sandbox, keeper } = await opened({ maxRunsOfKeeper: 2 });
    await bench.outcome(await bench.warm(ends));
    await bench.outcome(await bench.warm(ends));
    await until(() => sandbox.keeperPids.length === 1 && sandbox.keeperPids[0] !== keeper);
    await gone(keeper);
  });

  test('loses its keeper if the limit is exceeded and the keeper is the least recently used', async () => {
    const { sandbox, keeper } = await opened({ maxKeepers: 2 });
    const others = [
      await bench.kept(await bench.warm(ends, { scriptId: 'script-2' })),
      await bench.kept(await bench.warm(ends, { scriptId: 'script-3' })),
    ];
    expect(sandbox.keeperPids).toEqual(others);
    await gone(keeper);
  });

  test('loses its keeper and prepared files when it is purged, while other keepers remain', async () => {
    const { sandbox, keeper } = await opened({ maxKeepers: 2 });
    const other = await bench.kept(await bench.warm(ends, { scriptId: 'script-2' }));
    for (const scriptId of ['script-1', 'script-2']) {
      await bench.outcome(await bench.warm(ends, { scriptId }));
    }
    const folders = async () =>
      (await readdir(join(bench.bench.folder, 'runs'))).filter((name) => name.startsWith('.kept-'));
    const each = sandbox.layers.includes('landlock') ? 1 : 0;
    expect(await folders()).toHaveLength(2 * each);
    await sandbox.forget('script-1');
    await gone(keeper);
    expect(sandbox.keeperPids).toEqual([other]);
    expect(sandbox.scripts).toEqual(['script-2']);
    expect(await folders()).toHaveLength(each);
  });

  test('loses keepers that exceed the memory limit', async () => {
    bench = await WarmBench.open({ maxKeeperBytes: 1 });
    const { sandbox } = bench.bench;
    await bench.outcome(await bench.warm(ends));
    await sandbox.keepersMade;
    expect(sandbox.keeperPids).toEqual([]);
  });
});

describe('a machine without the layers that keepers require', () => {
  test('starts every run cold', async () => {
    const bench = await WarmBench.open({ without: NAMESPACES });
    const running = await bench.bench.start(await bench.warm(ends));
    expect(await running.outcome()).toMatchObject({ stdout: 'done\n' });
    await running.run.closed;
    expect(bench.bench.sandbox.keeperPids).toEqual([]);
    await bench.close();
  });
});

const ignoring = { output: () => undefined, sample: () => undefined };
