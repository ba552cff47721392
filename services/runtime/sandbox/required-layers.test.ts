import { expect, test } from 'vitest';
import { Bench } from './testing/bench.ts';

const REQUIRED = [['seccomp'], ['rlimits'], ['no_new_privs'], ['mount_namespace', 'landlock']];

test.each(REQUIRED)(
  'runs without the layer %s are refused, unless the operator allows such runs',
  async (...left) => {
    const strict = await Bench.open({ without: left });
    const named = left.map((name) => `${name} (disabled)`).join(' and ');
    await expect(strict.run('hello.py')).rejects.toMatchObject({
      stage: 'layers',
      message: expect.stringContaining(named),
    });
    await strict.close();
    const lenient = await Bench.open({ without: left, lenient: true });
    const { exit, run } = await lenient.run('hello.py');
    await lenient.close();
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(run.layers.filter((layer) => left.includes(layer))).toEqual([]);
  },
);

test.for([
  'mount_namespace',
  'landlock',
  'bind_tcp',
  'listen_filter',
  'capabilities',
  'cgroup',
  'script_user',
])('runs are accepted if only the layer %s is missing', async (layer, { skip }) => {
  const bench = await Bench.open({ without: [layer] });
  const { layers } = await bench.sandbox.probe();
  const isContained = layers.some(
    ({ name, available }) => available && ['mount_namespace', 'landlock'].includes(name),
  );
  if (!isContained) await bench.close();
  skip(!isContained, 'no mount namespace on this machine');
  const { exit, run } = await bench.run('hello.py');
  await bench.close();
  expect(exit).toMatchObject({ exitCode: 0 });
  expect(run.layers).not.toContain(layer);
});

test('a missing layer is reported with the reason', async () => {
  const bench = await Bench.open({ without: ['landlock'] });
  const { layers } = await bench.sandbox.probe();
  await bench.close();
  const landlock = layers.find(({ name }) => name === 'landlock');
  expect(landlock).toMatchObject({ available: false, detail: 'disabled' });
  const seccomp = layers.find(({ name }) => name === 'seccomp');
  expect(seccomp).toMatchObject({ available: true, detail: null });
});
