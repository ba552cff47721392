import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import { Bench, NO_LIMITS, parentOf, until } from './testing/bench.ts';

const MIB = 1024 * 1024;
const probe = await Bench.open();
const layers = new Map(
  (await probe.sandbox.probe()).layers.map((layer) => [layer.name, layer] as const),
);
await probe.close();
const layer = layers.get('cgroup');

/** Returns the folders of the process's control groups that belong to this launcher. */
async function groupsOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cgroup`, 'utf8');
  return text.split('\n').flatMap((line) => {
    const [, names = '', path = ''] = line.split(':');
    const folder = join('/sys/fs/cgroup', names, path);
    return path.includes('/orchestrator-') && existsSync(folder) ? [folder] : [];
  });
}

describeWith(
  {
    service: 'control groups',
    found: layer?.available === true ? 'here' : undefined,
    reason: layer?.detail ?? '',
  },
  'a launcher with control groups',
  () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await Bench.open();
    });
    afterAll(async () => {
      await bench.close();
      expect(bench.log).toEqual([]);
    });

    test("memory that belongs to no process counts against the run's limit", async () => {
      const limits = { ...NO_LIMITS, memoryBytes: 100 * MIB };
      const { exit, stdout } = await bench.run('hidden_memory.py', [], { limits });
      expect(stdout).toBe('');
      const detail = expect.stringContaining('memory limit of 100 MiB exceeded');
      expect(exit).toMatchObject({ signal: 'SIGKILL', reason: 'memory_limit', detail });
    });

    test('a run is terminated when the kernel kills one of its child processes for exceeding the memory limit', async () => {
      const limits = { ...NO_LIMITS, memoryBytes: 100 * MIB };
      const { exit } = await bench.run('hidden_memory.py', ['child'], { limits });
      expect(exit).toMatchObject({ reason: 'memory_limit' });
    });

    test("processes above the limit are refused, and the run's log reports the refusal", async () => {
      const limits = { ...NO_LIMITS, processes: 10 };
      const { stdout, exit } = await bench.run('fork_count.py', ['100'], { limits });
      expect(stdout).toBe('refused\nchildren 9\n');
      expect(exit).toMatchObject({ exitCode: 0, detail: null });
      const failed = await bench.run('fork_count.py', ['100', 'crash'], { limits });
      expect(failed.exit).toMatchObject({
        exitCode: 1,
        reason: null,
        detail: expect.stringContaining('limit of 10 processes and threads reached'),
      });
    });

    test("a run's control groups are removed after the run", async () => {
      const running = await bench.start(bench.spec('stubborn.py', ['polite']));
      await running.seen('waiting');
      const groups = await groupsOf(running.run.pid);
      expect(groups).not.toEqual([]);
      running.run.kill();
      await running.run.closed;
      await until(() => groups.every((path) => !existsSync(path)));
    });

    test("a run's control groups are removed after its supervisor is killed", async () => {
      const running = await bench.start(bench.spec('stubborn.py', ['polite']));
      await running.seen('waiting');
      const groups = await groupsOf(running.run.pid);
      process.kill(await parentOf(await parentOf(running.run.pid)), 'SIGKILL');
      await until(() => groups.every((path) => !existsSync(path)));
    });

    test('a launcher leaves no control groups behind after it exits', async () => {
      const other = await Bench.open();
      const running = await other.start(other.spec('stubborn.py', ['polite']));
      const [group = ''] = await groupsOf(running.run.pid);
      running.run.kill();
      await running.run.closed;
      const base = join(group, '..');
      expect(await readdir(base)).not.toEqual([]);
      await other.close();
      expect(existsSync(base)).toBe(false);
    });
  },
);
