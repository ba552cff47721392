import { scriptId } from '#domain/testing/ids.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { jobs, push } from './testing/jobs.ts';
import { scriptOf, settings, startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

let adapter: TestAdapter;
beforeAll(async () => {
  adapter = await startTestAdapter();
});
afterEach(() => adapter.clear());
afterAll(() => adapter.close());

describe('an invalid job', () => {
  test.each([
    ['nonsense', 'validation_failed: The job is not JSON in UTF-8.'],
    [Buffer.from([0xff, 0xfe]), 'validation_failed: The job is not JSON in UTF-8.'],
    ['[]', 'validation_failed: The job must be object.'],
    ['{}', 'validation_failed: The field "script_id" is required.'],
    [
      '{"script_id":"x"}',
      'not_found: The resource does not exist, or you do not have access to it.',
    ],
    [
      `{"script_id":"${scriptId(9)}"}`,
      'not_found: The resource does not exist, or you do not have access to it.',
    ],
    [
      `{"script_id":"${scriptId()}","param":{}}`,
      'validation_failed: The field "param" is unknown.',
    ],
    [
      `{"script_id":"${scriptId()}","params":{"a":"${'x'.repeat(70_000)}"}}`,
      'payload_too_large: The parameters may have at most 65536 bytes of JSON.',
    ],
    [
      `{"script_id":"${scriptId()}","params":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`,
      'validation_failed: The job is nested more than 64 levels deep.',
    ],
  ])('is refused with the reason, and nothing is queued', async (job, reason) => {
    const client = await adapter.member();
    expect(await client.call('LPUSH', jobs, job)).toBe(`-ERR ${reason}`);
    expect(await client.call('LLEN', jobs)).toBe(0);
  });

  test('is identified by its position, and if malformed, prevents all jobs in the command from being queued', async () => {
    const client = await adapter.member();
    await adapter.platform.accepted(
      scriptOf(3, {
        groupId: scriptOf(1).groupId,
        settings: { ...settings, maxConcurrentRuns: 1 },
      }),
    );
    const job = JSON.stringify({ script_id: scriptId() });
    expect(await client.call('LPUSH', jobs, job, '{}')).toMatch(
      /"script_id" is required. \(job 2\)$/,
    );
    expect(await client.call('LLEN', jobs)).toBe(0);
    const busy = JSON.stringify({ script_id: scriptId(3) });
    expect(await client.call('LPUSH', jobs, busy, job, busy, job)).toBe(
      '-ERR concurrency_limit_reached: 1 of 1 concurrent runs are already queued or running. (job 3) The 2 jobs before it were queued.',
    );
    expect(await client.call('LLEN', jobs)).toBe(2);
  });

  test('is refused if it violates the parameter schema', async () => {
    const schema = { type: 'object', required: ['n'] };
    await adapter.platform.accepted(
      scriptOf(4, {
        groupId: scriptOf(1).groupId,
        settings: { ...settings, parametersSchema: schema },
      }),
    );
    const client = await adapter.member();
    expect(await push(client, { script_id: scriptId(4), params: {} })).toBe(
      '-ERR validation_failed: The field "params/n" is required.',
    );
    expect(await push(client, { script_id: scriptId(4), params: { n: 1 } })).toBe(1);
  });

  test('is refused with WRONGTYPE if its key has another type', async () => {
    const client = await adapter.member();
    const logs = `runs:${scriptId()}:logs`;
    const wrong = '-WRONGTYPE Operation against a key holding the wrong kind of value';
    for (const words of [
      ['LPUSH', logs, 'x'],
      ['LLEN', logs],
      ['RPOP', logs],
      ['BRPOP', logs, '0'],
      ['LMOVE', jobs, logs, 'LEFT', 'LEFT'],
      ['XLEN', jobs],
      ['XRANGE', jobs, '-', '+'],
      ['XADD', jobs, '*', 'text', 'a'],
      ['XREAD', 'STREAMS', jobs, '0'],
    ]) {
      expect(await client.call(...words), words.join(' ')).toBe(wrong);
    }
    expect(await client.call('LPUSH', 'other', 'x')).toMatch(/^-ERR unknown list/);
    expect(await client.call('LPUSH', Buffer.from([0, 255, 13, 10]), 'x')).toMatch(
      /^-ERR unknown list/,
    );
  });
});
