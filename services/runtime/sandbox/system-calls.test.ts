import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Bench } from './testing/bench.ts';

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
