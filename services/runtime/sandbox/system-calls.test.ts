import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Bench } from './testing/bench.ts';

describe('the system call filter', () => {
  let bench: Bench;
  let answers: Record<string, string>;
  beforeAll(async () => {
    bench = await Bench.open();
    answers = JSON.parse((await bench.run('system_calls.py')).stdout) as Record<string, string>;
  });
  afterAll(() => bench.close());

  test('denies access to other processes, access to the kernel, and the creation of namespaces', () => {
    const { clone3, x32, MPTCP, SMC, SCTP, ...others } = answers;
    const { 'packet socket': packet, "kernel's ciphers": ciphers, ...more } = others;
    const { 'socket of a virtual machine': machine, ...rest } = more;
    expect(Object.entries(rest).filter(([, answer]) => answer !== 'EPERM')).toEqual([]);
    expect([clone3, x32]).toEqual(['ENOSYS', 'ENOSYS']);
    expect(new Set([packet, ciphers, machine])).toEqual(new Set(['EAFNOSUPPORT']));
    expect(new Set([MPTCP, SMC, SCTP])).toEqual(new Set(['EPROTONOSUPPORT']));
  });
});
