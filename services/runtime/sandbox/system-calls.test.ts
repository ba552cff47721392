import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Bench } from './testing/bench.ts';

/** What succeeds without the filter, so that the filter alone stops it. */
const STOPPED_BY_THE_FILTER_ALONE = [
  'add_key',
  'keyctl',
  'ptrace',
  'process_vm_readv',
  'pidfd_getfd',
  'prlimit',
  'userfaultfd',
  'io_uring_setup',
  'unshare',
  'clone',
  'personality',
];

describe('given the filter on system calls', () => {
  let bench: Bench;
  let answers: Record<string, string>;
  beforeAll(async () => {
    bench = await Bench.open();
    answers = JSON.parse((await bench.run('system_calls.py')).stdout) as Record<string, string>;
  });
  afterAll(() => bench.close());

  test('what reaches other processes, the kernel or new namespaces is not permitted', () => {
    const { clone3, x32, 'packet socket': packet, "kernel's ciphers": ciphers, ...rest } = answers;
    expect(Object.entries(rest).filter(([, answer]) => answer !== 'EPERM')).toEqual([]);
    expect([clone3, x32]).toEqual(['ENOSYS', 'ENOSYS']);
    expect([packet, ciphers]).toEqual(['EAFNOSUPPORT', 'EAFNOSUPPORT']);
  });
});

describe('given a launcher without that filter', () => {
  test('the calls that nothing else stops succeed', async () => {
    const bench = await Bench.open({ without: ['seccomp'], lenient: true });
    const { stdout, run } = await bench.run('system_calls.py');
    await bench.close();
    const answers = JSON.parse(stdout) as Record<string, string>;
    expect(run.layers).not.toContain('seccomp');
    const done = STOPPED_BY_THE_FILTER_ALONE.filter((name) => answers[name] === 'done');
    expect(done).toEqual(STOPPED_BY_THE_FILTER_ALONE);
  });
});
