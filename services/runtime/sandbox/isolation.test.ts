import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Bench, NAMESPACES, systemPython } from './testing/bench.ts';

/** Everything that keeps one script from another; whatever else there is bounds a script itself. */
const BARRIERS = [...NAMESPACES, 'script_user', 'landlock', 'seccomp'];

/** What a script got hold of that belongs to another one or to the platform. */
async function reached(without: readonly string[]) {
  const python = await systemPython();
  const bench = await Bench.open({ without, lenient: true, ...(python && { python }) });
  try {
    const dataFolder = join(bench.folder, 'data', 'victim');
    const secret = join(bench.folder, 'platform', 'secret');
    await mkdir(join(bench.folder, 'platform'));
    await writeFile(secret, 'secret', { mode: 0o600 });
    const name = `victim-${process.pid}-${without.length}`;
    const who = { scriptId: 'victim', user: 'victim', dataFolder };
    const victim = await bench.start(bench.spec('victim.py', [name], who));
    await victim.seen('waiting');
    const workspace = join(bench.folder, 'runs', victim.runId, 'files');
    const args = [String(victim.run.pid), workspace, dataFolder, name, secret];
    const { stdout, stderr, run } = await bench.run('reaches.py', args);
    victim.run.kill();
    await victim.outcome();
    expect(stderr).toBe('');
    return { reached: JSON.parse(stdout) as string[], layers: run.layers };
  } finally {
    await bench.close();
  }
}

/** What one barrier stops when there is no other; the others stop it as well. */
const alone: Record<string, readonly string[]> = {
  seccomp: ['ptrace', 'pidfd_getfd', 'process_vm_readv', 'prlimit'],
  landlock: [
    'kill',
    'pidfd_send_signal',
    'pidfd_getfd',
    'ptrace',
    'process_vm_readv',
    '/proc environ',
    '/proc memory',
    '/proc root',
    '/proc cwd',
    '/proc fd',
    'list workspace',
    'read file',
    'write file',
    'create file',
    'read kept file',
    'replace kept file',
    'symbolic link',
    'hard link',
    'abstract socket',
    'platform file',
  ],
  script_user: [
    'kill',
    'pidfd_send_signal',
    'pidfd_getfd',
    'ptrace',
    'process_vm_readv',
    'prlimit',
    'sched_setaffinity',
    'setpriority',
    '/proc environ',
    '/proc memory',
    '/proc root',
    '/proc cwd',
    '/proc fd',
    'list workspace',
    'read file',
    'write file',
    'create file',
    'read kept file',
    'replace kept file',
    'chmod',
    'utime',
    'symbolic link',
    'platform file',
  ],
};

describe('given another script at work, and a secret of the platform', () => {
  test('with all layers a script reaches nothing of them', async () => {
    const { reached: nothing, layers } = await reached([]);
    process.stdout.write(`active layers: ${layers.join(', ')}\n`);
    expect(nothing).toEqual([]);
  });

  test('without the barriers it reaches everything, so that the attacks are real', async () => {
    const everything = new Set(Object.values(alone).flat());
    expect([...everything.difference(new Set((await reached(BARRIERS)).reached))]).toEqual([]);
  });

  test.each(Object.entries(alone))('%s alone stops what it is there for', async (layer, stops) => {
    const only = BARRIERS.filter((barrier) => barrier !== layer);
    const { reached: still, layers } = await reached(only);
    if (layer !== 'script_user' || process.getuid?.() === 0) expect(layers).toContain(layer);
    else return;
    expect(still.filter((attack) => stops.includes(attack))).toEqual([]);
  });

  test('the namespaces alone stop all but what a name without a file reaches', async () => {
    const { reached: still } = await reached(['script_user', 'landlock', 'seccomp']);
    expect(still).toEqual(['abstract socket']);
  });
});
