import { defaultLimits } from '#domain/script/settings.ts';
import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { complete, popped } from './testing/jobs.ts';
import { command, type RawClient, type Value } from './testing/raw-client.ts';
import { scriptOf, settings, startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

let adapter: TestAdapter;
let worker: RawClient;
let runId: string;
let logs: string;

beforeAll(async () => {
  adapter = await startTestAdapter();
});
beforeEach(() => take(1));
afterEach(() => adapter.clear());
afterAll(() => adapter.close());

async function take(script: number): Promise<void> {
  worker = await adapter.member();
  await adapter.queueRun(script);
  runId = (await popped(worker)).run_id;
  logs = `runs:${runId}:logs`;
}

function add(text: string, ...more: readonly string[]): Promise<Value> {
  return worker.call('XADD', logs, '*', 'text', text, ...more);
}

/** Returns the IDs and texts of the entries. */
function lines(reply: Value): readonly (readonly [Value, Value])[] {
  return (reply as readonly (readonly [Value, readonly Value[]])[]).map(([id, fields]) => [
    id,
    fields[fields.indexOf('text') + 1] ?? null,
  ]);
}

describe('the log of a popped run', () => {
  test('numbers its lines and can be read from any position', async () => {
    expect(await add('one')).toBe('1-0');
    expect(await add('two\nthree\n', 'stream', 'stderr')).toBe('3-0');
    expect(await worker.call('XLEN', logs)).toBe(3);
    expect(await worker.call('TYPE', logs)).toBe('stream');
    const all = [
      ['1-0', 'one'],
      ['2-0', 'two'],
      ['3-0', 'three'],
    ];
    const range = async (...words: readonly string[]) =>
      lines(await worker.call('XRANGE', logs, ...words));
    expect(await range('-', '+')).toEqual(all);
    expect(await range('2', '+')).toEqual(all.slice(1));
    expect(await range('(1-0', '2-0')).toEqual(all.slice(1, 2));
    expect(await range('-', '(3')).toEqual(all.slice(0, 2));
    expect(await range('-', '+', 'COUNT', '2')).toEqual(all.slice(0, 2));
    expect(await range('4', '+')).toEqual([]);
    const [[, fields]] = (await worker.call('XRANGE', logs, '2', '2')) as [[Value, Value[]]];
    expect(fields).toEqual([
      'time',
      expect.stringMatching(/Z$/),
      'stream',
      'stderr',
      'text',
      'two',
    ]);
    const { items } = await new PostgresRunLogs(adapter.platform.pool).read(
      mustParse(parseRunId, runId),
      {
        fromSeq: 1,
        limit: 10,
      },
    );
    expect(items.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
  });

  test('returns new lines immediately to a blocking read, or nothing after the timeout', async () => {
    await add('one');
    const reader = await adapter.member();
    expect(await reader.call('XREAD', 'STREAMS', logs, '1-0')).toBe(null);
    expect(await reader.call('XREAD', 'BLOCK', '30', 'STREAMS', logs, '$')).toBe(null);
    const [[name, entries]] = (await reader.call('XREAD', 'COUNT', '5', 'STREAMS', logs, '0')) as [
      [Value, Value],
    ];
    expect([name, lines(entries)]).toEqual([logs, [['1-0', 'one']]]);
    reader.send(
      Buffer.concat([
        command(['PING']),
        command(['XREAD', 'BLOCK', '0', 'STREAMS', logs, 'x:1', '1', '0']),
      ]),
    );
    await reader.reply();
    await add('two');
    const [[, later]] = (await reader.reply()) as [[Value, Value]];
    expect(lines(later)).toEqual([['2-0', 'two']]);
  });

  test('is returned as a map with RESP3', async () => {
    await add('one');
    const reader = await adapter.member();
    await reader.call('HELLO', '3');
    const found = (await reader.call('XREAD', 'STREAMS', logs, '0')) as ReadonlyMap<Value, Value>;
    expect(lines(found.get(logs) ?? null)).toEqual([['1-0', 'one']]);
    expect(await reader.call('XREAD', 'STREAMS', logs, '$')).toBe(null);
  });

  test('refuses lines from another client, and lines after the end of the run', async () => {
    const fenced =
      '-ERR run_fenced: You do not hold the lease on this run: it has ended, or another worker holds it.';
    const other = await adapter.openUnauthenticated();
    await other.call('AUTH', await adapter.token(['*']));
    expect(await other.call('XADD', logs, '*', 'text', 'forged')).toBe(fenced);
    await complete(worker, runId);
    expect(await add('late')).toBe(fenced);
    expect(await worker.call('XLEN', logs)).toBe(0);
  });

  test('reports why a line is invalid', async () => {
    expect(await worker.call('XADD', logs, '5-0', 'text', 'x')).toMatch(
      /^-ERR the platform assigns line ids/,
    );
    expect(await add('x', 'colour', 'red')).toMatch(
      /^-ERR a line may have only the fields text and stream/,
    );
    expect(await worker.call('XADD', logs, '*', 'stream', 'stdout')).toMatch(
      /the field text is required$/,
    );
    expect(await worker.call('XRANGE', logs, 'x', '+')).toMatch(/^-ERR Invalid stream ID/);
    expect(await worker.call('XREAD', 'STREAMS', logs, logs, '0')).toMatch(/^-ERR Unbalanced/);
    expect(await worker.call('XREAD', 'COUNT', '1', logs, '0')).toBe('-ERR syntax error');
    expect(await worker.call('XADD', 'other', '*', 'text', 'x')).toMatch(/^-ERR unknown stream/);
    expect(await worker.call('XLEN', 'other')).toBe(0);
  });
});

test('a log over its size limit keeps its beginning and its end, and marks the gap', async () => {
  await adapter.platform.accepted(
    scriptOf(5, {
      groupId: scriptOf(1).groupId,
      settings: { ...settings, limits: { ...defaultLimits, log_bytes: 1600 } },
    }),
  );
  await take(5);
  for (let number = 1; number <= 60; number += 1) await add(`line ${number} ${'x'.repeat(90)}`);
  const found = lines(await worker.call('XRANGE', logs, '-', '+'));
  const [first, last] = [found[0], found.at(-1)];
  expect(first?.[1]).toMatch(/^line 1 /);
  expect(last).toEqual(['60-0', expect.stringMatching(/^line 60 /)]);
  expect(found.filter(([, text]) => /lines left out/.test(text as string))).toHaveLength(1);
  expect(found.length).toBeLessThan(20);
  await complete(worker, runId);
  const { rows } = await adapter.platform.pool.query(
    'SELECT log_lines, log_truncated FROM runs WHERE run_id = $1',
    [runId],
  );
  expect(rows).toEqual([{ log_lines: 60, log_truncated: true }]);
});

test('a log that exceeds the maximum reply size must be read with a smaller COUNT', async () => {
  for (let number = 0; number < 5; number += 1) await add(`${'x'.repeat(1000)}\n`.repeat(1000));
  expect(await worker.call('XRANGE', logs, '-', '+')).toMatch(/^-ERR the reply exceeds 4 MiB/);
  expect(lines(await worker.call('XRANGE', logs, '-', '+', 'COUNT', '1500'))).toHaveLength(1500);
  expect(await worker.call('XLEN', logs)).toBe(5000);
});
