/** Queries of scripts see what their group holds, change nothing, and end. */
import { groupId, runId, scheduleId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createSchedule, createScript, runScript } from '#domain/testing/samples.ts';
import { openTestPlatform, untilTrue, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxQueryRows, ScriptQueries } from './script-queries.ts';

let platform: TestPlatform;
let queries: ScriptQueries;
beforeAll(async () => {
  platform = await openTestPlatform();
  queries = new ScriptQueries(platform.serviceUrl, platform.pool, () => undefined);
  for (const number of [1, 2]) {
    await platform.accepted(createGroup({ groupId: groupId(number), name: `Group ${number}` }));
    const script = { scriptId: scriptId(number), name: `Script ${number}` };
    await platform.accepted(createScript({ ...script, groupId: groupId(number) }));
    await platform.accepted(runScript({ runId: runId(number), scriptId: scriptId(number) }));
    const schedule = { scheduleId: scheduleId(number), scriptId: scriptId(number) };
    await platform.accepted(createSchedule(schedule));
    const items = [
      { seq: 1, time: '2026-01-01T00:00:00Z', stream: 'stdout', text: `of ${number}` },
    ];
    await platform.pool.query(
      `INSERT INTO run_log_chunks (run_id, first_seq, last_seq, bytes, items) VALUES ($1, 1, 1, 5, $2)`,
      [runId(number), JSON.stringify(items)],
    );
  }
});
afterAll(async () => {
  await queries.close();
  await platform.close();
});

async function rowsOf(query: string, number = 1): Promise<readonly unknown[]> {
  const lines = await queries.run(groupId(number), query);
  return lines.map((line) => JSON.parse(line) as unknown);
}

describe('a query', () => {
  test('sees the scripts, schedules, runs and logs of its group alone', async () => {
    for (const number of [1, 2]) {
      expect(await rowsOf('SELECT name FROM scripts', number)).toEqual([
        { name: `Script ${number}` },
      ]);
      expect(await rowsOf('SELECT id, status FROM runs', number)).toEqual([
        { id: runId(number), status: 'queued' },
      ]);
      expect(await rowsOf('SELECT seq, stream, text FROM run_logs', number)).toEqual([
        { seq: 1, stream: 'stdout', text: `of ${number}` },
      ]);
      const schedule = { id: scheduleId(number), script_name: `Script ${number}`, cron: '@hourly' };
      const due = 'next_fire_at IS NOT NULL AS due';
      expect(
        await rowsOf(`SELECT id, script_name, cron, enabled, ${due} FROM schedules`, number),
      ).toEqual([{ ...schedule, enabled: true, due: true }]);
    }
  });

  test('sees no schedule that is gone, nor those of a script that is', async () => {
    const gone = { scheduleId: scheduleId(3), scriptId: scriptId(1) };
    await platform.accepted(createSchedule(gone));
    await platform.accepted({ type: 'DeleteSchedule', ...gone });
    expect(await rowsOf('SELECT count(*) AS n FROM schedules')).toEqual([{ n: 1 }]);
    await platform.accepted(createScript({ scriptId: scriptId(4), name: 'gone' }));
    const orphan = { scheduleId: scheduleId(4), scriptId: scriptId(4) };
    await platform.accepted(createSchedule(orphan));
    expect(await rowsOf('SELECT count(*) AS n FROM schedules')).toEqual([{ n: 2 }]);
    await platform.accepted({ type: 'DeleteScript', scriptId: scriptId(4) });
    expect(await rowsOf('SELECT count(*) AS n FROM schedules')).toEqual([{ n: 1 }]);
  });

  test('may be any that reads, with comments and an order', async () => {
    expect(
      await rowsOf('WITH n AS (VALUES (2), (1)) SELECT column1 AS n FROM n ORDER BY 1 -- so'),
    ).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test.each([
    ['another table', 'SELECT * FROM public.scripts', /permission denied/],
    ['secrets', 'SELECT * FROM public.data_keys', /permission denied/],
    ['whose group is asked for', 'SELECT * FROM queries.scopes', /permission denied/],
    ["the platform's passwords", 'SELECT * FROM pg_authid', /permission denied/],
    ['files of the server', "SELECT pg_read_file('/etc/passwd')", /permission denied/],
    ['several statements', 'SELECT 1) AS q; COMMIT; SELECT (SELECT 1', /multi/],
    ['a change', "INSERT INTO scripts (name) VALUES ('x') RETURNING 1", /syntax error/],
    ['a change inside', 'WITH x AS (DELETE FROM scripts RETURNING 1) SELECT 1', /./],
    ['no query', 'COMMIT', /syntax error/],
    ['another role', "SELECT set_config('role', 'none', true)", /security-definer|role/],
    [
      'another role, then what it may see',
      "SELECT set_config('session_authorization', 'postgres', true)",
      /./,
    ],
    ['writing again', "SELECT set_config('transaction_read_only', 'off', true)", /./],
    [
      'more, by the function that runs it',
      "SELECT queries.run('SELECT n FROM generate_series(1, 2000) n', 100000, 100000000)",
      /more than 1000 rows/,
    ],
    ['dynamic text', "SELECT query_to_xml('SELECT * FROM public.users', true, true, '')", /denied/],
    ['a lock', 'SELECT pg_advisory_lock(1)', /permission denied/],
    ['a lock of a stream', 'SELECT pg_advisory_xact_lock(1)', /permission denied/],
    ['a large object', "SELECT lo_from_bytea(0, 'x')", /permission denied|read-only/],
    ['a notification', "SELECT pg_notify('a', 'b')", /permission denied/],
    [
      'the end of another connection',
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity',
      /./,
    ],
    ['a row lock', 'SELECT name FROM scripts FOR UPDATE', /./],
  ])('is refused %s', async (_name, query, message) => {
    await expect(queries.run(groupId(), query)).rejects.toThrow(message);
  });

  test('learns nothing of other groups by the errors of its conditions', async () => {
    const query = "SELECT 1 FROM scripts WHERE name = 'Script 2' AND (name || 'x')::int = 1";
    expect(await rowsOf(query)).toEqual([]);
  });

  test('changes nothing for the next one', async () => {
    await rowsOf(
      "SELECT set_config('search_path', 'public', false), set_config('work_mem', '1GB', false)",
    );
    expect(await rowsOf('SELECT name FROM scripts, (SELECT 1) one')).toEqual([
      { name: 'Script 1' },
    ]);
  });

  test('ends with too many rows, too many bytes, or too late', async () => {
    const many = `SELECT n FROM generate_series(1, ${maxQueryRows + 1}) n`;
    await expect(rowsOf(many)).rejects.toThrow(/more than 1000 rows/);
    await expect(rowsOf("SELECT repeat('x', 5000000) AS x")).rejects.toThrow(/bytes/);
    await expect(rowsOf('SELECT pg_sleep(60)')).rejects.toThrow(/statement timeout/);
    const setting = "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)";
    await expect(rowsOf(setting)).rejects.toThrow(/timeout|cancel/);
  }, 60_000);

  test('leaves no connection and no scope', async () => {
    await Promise.all(Array.from({ length: 5 }, () => rowsOf('SELECT 1 AS one')));
    const { rows } = await platform.pool.query(`SELECT FROM queries.scopes`);
    expect(rows).toEqual([]);
    await untilTrue('the connections are closed', async () => {
      const open = await platform.pool.query(
        `SELECT FROM pg_stat_activity WHERE application_name = 'script queries'
           AND datname = current_database()`,
      );
      return open.rowCount === 0;
    });
  });
});
