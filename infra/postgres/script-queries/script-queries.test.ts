/** Script queries see only the data of their group, change nothing, and always end. */
import { groupId, runId, scheduleId, scriptId } from '#domain/testing/ids.ts';
import { createGroup, createSchedule, createScript, runScript } from '#domain/testing/samples.ts';
import { withClient } from '#infra/testing/client.ts';
import { openTestPlatform, untilTrue, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confineQueries } from './confine-queries.ts';
import { maxQueryRows } from './query-answer.ts';
import type { QueryChecker } from './query-check.ts';
import { ScriptQueries, type ScriptQueriesOptions } from './script-queries.ts';

let platform: TestPlatform;
let queries: ScriptQueries;
/** Runs queries without the syntax check, so that only the database restricts them. */
let unchecked: ScriptQueries;
beforeAll(async () => {
  platform = await openTestPlatform();
  queries = queriesWith({});
  unchecked = queriesWith({ check: anySyntax });
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
  await Promise.all([queries.close(), unchecked.close()]);
  await platform.close();
});

const ended: string[] = [];

const anySyntax: QueryChecker = {
  problemOf: () => Promise.resolve(undefined),
  close: () => Promise.resolve(),
};

function queriesWith(changes: Partial<ScriptQueriesOptions>): ScriptQueries {
  return new ScriptQueries({
    url: platform.serviceUrl,
    platform: platform.pool,
    connections: 2,
    timeoutMs: 5_000,
    maxWaitMs: 30_000,
    lenient: false,
    metrics: { waited: () => undefined, ended: (outcome) => void ended.push(outcome) },
    onIdleError: () => undefined,
    ...changes,
  });
}

/** A query that runs until the timeout in constant memory. */
const endless =
  'SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a < -b';

async function isAnyUnderWay(): Promise<boolean> {
  const { rows } = await platform.pool.query('SELECT FROM queries.scopes');
  return rows.length > 0;
}

async function rowsOf(query: string, number = 1): Promise<readonly unknown[]> {
  const lines = await queries.run(groupId(number), query);
  return lines.map((line) => JSON.parse(line) as unknown);
}

describe('a query', () => {
  test('sees only the scripts, schedules, runs and logs of its group', async () => {
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

  test('sees neither deleted schedules nor schedules of deleted scripts', async () => {
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

  test('may use any form of SELECT, with comments and ORDER BY', async () => {
    expect(
      await rowsOf('WITH n AS (VALUES (2), (1)) SELECT column1 AS n FROM n ORDER BY 1 -- so'),
    ).toEqual([{ n: 1 }, { n: 2 }]);
  });

  describe.each([
    ['by the syntax check', 'checked', /not allowed|only (one statement|SELECT)/],
    ['by the database', 'unchecked', /./],
  ] as const)('is refused if it accesses %s', (_layer, kind, message) => {
    test.each([
      ['another table', 'SELECT * FROM public.scripts', /permission denied/],
      ['secrets', 'SELECT * FROM public.data_keys', /permission denied/],
      ['the scopes of queries', 'SELECT * FROM queries.scopes', /permission denied/],
      ["the platform's passwords", 'SELECT * FROM pg_authid', /permission denied/],
      ['server files', "SELECT pg_read_file('/etc/passwd')", /permission denied/],
      ['a write', "INSERT INTO scripts (name) VALUES ('x') RETURNING 1", /syntax error/],
      [
        'a write in a common table expression',
        'WITH x AS (DELETE FROM scripts RETURNING 1) SELECT 1',
        /./,
      ],
      ['no query', 'COMMIT', /syntax error/],
      ['another role', "SELECT set_config('role', 'none', true)", /denied/],
      [
        "another role, then that role's tables",
        "SELECT set_config('session_authorization', 'postgres', true)",
        /./,
      ],
      ['switching writes back on', "SELECT set_config('transaction_read_only', 'off', true)", /./],
      [
        'a longer statement through the function that runs it',
        "SELECT queries.run('SELECT n FROM generate_series(1, 2000) n', 100000, 100000000)",
        /permission denied for function run/,
      ],
      [
        'a message in the write-ahead log',
        "SELECT pg_logical_emit_message(false, 'x', 'y')",
        /denied/,
      ],
      [
        'sleep',
        'SELECT pg_sleep(60)',
        /permission denied for function pg_sleep\. Use the functions/,
      ],
      ['an exported snapshot', 'SELECT pg_export_snapshot()', /denied/],
      ['server settings', 'SELECT * FROM pg_settings', /denied/],
      ['other sessions', 'SELECT query FROM pg_stat_activity', /denied/],
      [
        'dynamic SQL',
        "SELECT query_to_xml('SELECT * FROM public.users', true, true, '')",
        /denied/,
      ],
      ['a lock', 'SELECT pg_advisory_lock(1)', /permission denied/],
      ['a stream lock', 'SELECT pg_advisory_xact_lock(1)', /permission denied/],
      ['a large object', "SELECT lo_from_bytea(0, 'x')", /permission denied|read-only/],
      ['a notification', "SELECT pg_notify('a', 'b')", /permission denied/],
      [
        'terminating another connection',
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity',
        /./,
      ],
      ['a row lock', 'SELECT name FROM scripts FOR UPDATE', /./],
    ])('%s', async (_name, query, denial) => {
      const asked = kind === 'checked' ? queries : unchecked;
      await expect(asked.run(groupId(), query)).rejects.toThrow(
        kind === 'checked' ? message : denial,
      );
    });
  });

  test('is refused if it contains several statements', async () => {
    const several = 'SELECT 1) AS q; COMMIT; SELECT (SELECT 1';
    await expect(queries.run(groupId(), several)).rejects.toThrow(/syntax error at or near "\)"/);
    await expect(unchecked.run(groupId(), several)).rejects.toThrow(/multi/);
  });

  test('is refused with duplicate column names', async () => {
    await expect(rowsOf('SELECT 1 AS a, 2 AS a, 3 AS b')).rejects.toThrow(
      /^Several columns have the name "a". Give each column a unique name with AS$/,
    );
    await expect(rowsOf('SELECT r.*, s.* FROM runs r JOIN scripts s ON true')).rejects.toThrow(
      /"id"/,
    );
    expect(await rowsOf(`SELECT '{"a": 1, "a": 2}'::json AS x`)).toEqual([{ x: { a: 2 } }]);
  });

  test('reveals nothing about other groups through errors in its conditions', async () => {
    const query = "SELECT 1 FROM scripts WHERE name = 'Script 2' AND (name || 'x')::int = 1";
    expect(await rowsOf(query)).toEqual([]);
  });

  test('does not affect the next query', async () => {
    const lenient = queriesWith({ lenient: true, check: anySyntax });
    await withClient(platform.adminUrl, (client) => client.query('SELECT queries.release()'));
    try {
      const set = "SELECT set_config('search_path', 'public', false)";
      expect(await lenient.run(groupId(), set)).toHaveLength(1);
      expect(await lenient.run(groupId(), 'SELECT name FROM scripts')).toHaveLength(1);
    } finally {
      await confineQueries(platform.adminUrl);
      await lenient.close();
    }
  });

  test('fails if it returns too many rows or bytes, or exceeds its time limit', async () => {
    const many = `SELECT n FROM generate_series(1, ${maxQueryRows + 1}) n`;
    await expect(rowsOf(many)).rejects.toThrow(/more than 1000 rows/);
    await expect(rowsOf("SELECT repeat('x', 5000000) AS x")).rejects.toThrow(/bytes/);
    const hasty = queriesWith({ timeoutMs: 300 });
    const late = hasty.run(groupId(), endless);
    await expect(late).rejects.toThrow(/^The query took more than 0.3 s/);
    await hasty.close();
    expect(ended.at(-1)).toBe('timeout');
  }, 180_000);

  test.each([
    [
      'rows spilled to disk',
      'SELECT count(*) FROM generate_series(1, 100000000) n',
      /temp_file_limit/,
    ],
    ['one long text', "SELECT length(repeat('x', 1000000000))", /out of memory/],
    ['padding', "SELECT length(format('%1000000000s', 'x'))", /out of memory/],
    [
      'several long texts',
      `SELECT ${Array.from({ length: 3 }, () => "repeat('x', 200000000)").join(', ')}`,
      /out of memory/,
    ],
  ])(
    'fails with %s, and the server keeps running',
    async (_name, query, message) => {
      const patient = queriesWith({ timeoutMs: 30_000 });
      await expect(patient.run(groupId(), query)).rejects.toThrow(message);
      await patient.close();
      expect(await rowsOf('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    },
    60_000,
  );

  test('of one group leaves a connection free for other groups', async () => {
    const shared = queriesWith({ timeoutMs: 2_000 });
    const slow = [endless, endless].map((query) => shared.run(groupId(1), query));
    const over = Promise.allSettled(slow);
    await untilTrue(
      'one of them runs',
      async () => shared.waiting === 1 && (await isAnyUnderWay()),
    );
    expect(await shared.run(groupId(2), 'SELECT 1 AS one')).toEqual(['{"one":1}']);
    expect(shared.waiting).toBe(1);
    await over;
    await shared.close();
  }, 180_000);

  test('is refused before it starts if it waits too long', async () => {
    const crowded = queriesWith({ connections: 1, timeoutMs: 2_000, maxWaitMs: 200 });
    const first = crowded.run(groupId(1), endless).catch(() => undefined);
    await untilTrue('it runs', isAnyUnderWay);
    const second = crowded.run(groupId(2), 'SELECT 1');
    await expect(second).rejects.toThrow(
      /^Too many queries are running. This query waited 0.2 s and was not started/,
    );
    expect(ended.at(-1)).toBe('busy');
    await first;
    await crowded.close();
  });

  test('is refused until the database restricts queries to the allowed functions and relations', async () => {
    await withClient(platform.adminUrl, (client) => client.query('SELECT queries.release()'));
    const careful = queriesWith({});
    await expect(careful.run(groupId(), 'SELECT 1 AS one')).rejects.toThrow(
      /^Queries are disabled because the database does not restrict them .*queries\.confine/,
    );
    expect(ended.at(-1)).toBe('unavailable');
    await confineQueries(platform.adminUrl);
    expect(await careful.run(groupId(), 'SELECT 1 AS one')).toEqual(['{"one":1}']);
    await careful.close();
  });

  test('leaves neither an open connection nor a trace of its group in the database', async () => {
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
