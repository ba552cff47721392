/** Creates a scratch database with a long history: millions of runs, and the other data that the lists show. Set-based
 *  statements create the history in minutes. */
import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '#infra/embedded/postgres.ts';
import { migrate } from '#infra/postgres/migrate.ts';
import { everywhere } from '#projections/figures/table.ts';
import pg from 'pg';

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url));

/** The number of runs, from `ORCH_BENCH_RUNS`. Default: ten million. */
export const wantedRuns = Number(process.env['ORCH_BENCH_RUNS'] ?? 10_000_000);
export const historyDays = 100;

interface Size {
  readonly runs: number;
  readonly scripts: number;
}
const long: Size = { runs: wantedRuns, scripts: 5_000 };

export interface LongHistory {
  /** The URL for the services. */
  readonly url: string;
  remove(): Promise<void>;
}

/** Creates the history. Requires about 1.1 GB of disk space per million runs. */
export async function makeLongHistory(): Promise<LongHistory> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-bench-'));
  chmodSync(folder, 0o711); // the server may have to run as another user
  const server = await startEmbeddedPostgres({
    directory: join(folder, 'postgres'),
    fallbackParent: join(folder, 'fallback'),
    durable: false,
  });
  const remove = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await migrate(server.adminUrl, { directory: migrations });
    await fill(server.adminUrl);
  } catch (error) {
    await remove();
    throw error;
  }
  return { url: server.serviceUrl, remove };
}

async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SET maintenance_work_mem = '512MB'");
    for (const statement of [...scriptRows(long), ...othersRows()]) await client.query(statement);
    await withoutIndexes(client, 'runs', () => client.query(runRows(long)));
    await client.query(queueRows);
    for (const statement of figureRows()) await client.query(statement);
    for (const table of [
      'runs',
      'run_figures',
      'run_queue',
      'audit',
      'events',
      'scripts',
      'script_files',
      'run_log_chunks',
    ]) {
      await client.query(`VACUUM (ANALYZE) ${table}`);
    }
  } finally {
    await client.end();
  }
}

/** Adds scripts and runs to the database of a running product. The runs have no events. */
export async function addRuns(url: string, size: Size): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of scriptRows(size)) await client.query(statement);
    await withoutIndexes(client, 'runs', () => client.query(runRows(size)));
    for (const table of ['runs', 'scripts', 'script_files']) {
      await client.query(`VACUUM (ANALYZE) ${table}`);
    }
  } finally {
    await client.end();
  }
}

/** Fills a table without its indexes and recreates them afterwards, which is several times faster. */
async function withoutIndexes(client: pg.Client, table: string, work: () => Promise<unknown>) {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
     FROM pg_index WHERE indrelid = '${table}'::regclass AND NOT indisprimary`,
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  await work();
  for (const { definition } of rows) await client.query(definition);
}

export const groupOf = (number: number) => idOf('0190', number);
export const scriptOf = (number: number) => idOf('0191', number);
const idOf = (kind: string, number: number) =>
  `${kind}0000-0000-7000-8000-${String(number).padStart(12, '0')}`;

/** The start and the end of the history. */
export const beginsAt = new Date('2026-06-01T00:00:00.000Z');
export const endsAt = new Date(beginsAt.getTime() + historyDays * 86_400_000);

/** Rare rows. One group has a single script, whose failed runs are all at the beginning of the history. Another
 *  script has had no runs since the first days. */
export const quiet = { group: groupOf(9), script: scriptOf(long.scripts + 1) };
export const dormant = { script: scriptOf(long.scripts), name: 'Dormant heron' };

const words = `ARRAY['price','report','backup','mail','sync','crawl','index','alert','invoice','cache']`;
const limits = `'{"cpu_seconds": 3600, "memory_bytes": 1073741824, "address_space_bytes": 8589934592,
  "open_files": 256, "processes": 64, "wall_clock_seconds": 3600, "log_bytes": 10485760,
  "queue_seconds": 86400}'::jsonb`;
const time = (ms: string) => `to_timestamp((${ms}) / 1000.0)`;

function scriptRows({ scripts }: Size): readonly string[] {
  return [
    `ALTER TABLE runs SET UNLOGGED`,
    `INSERT INTO groups SELECT ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1,
      'group ' || n, '#336699', 'box' FROM generate_series(1, 9) n ON CONFLICT DO NOTHING`,
    `INSERT INTO scripts (script_id, stream_version, name, description, group_id, enabled, deleted,
      max_concurrent_runs, storage_quota_bytes, entrypoint, limits, tags, version, created_at,
      created_by, updated_at, updated_by, retry, keep_alive, environment, start_mode, resident,
      listen_ports)
    SELECT ('01910000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1,
      CASE n WHEN ${scripts} THEN '${dormant.name}'
        ELSE initcap((${words})[1 + n % 10]) || ' ' || n END, '',
      ('01900000-0000-7000-8000-' || lpad((CASE n WHEN ${scripts + 1} THEN 9 ELSE 1 + n % 8 END)::text,
        12, '0'))::uuid,
      n % 1000 <> 0, false, 1, 104857600, 'main.py', ${limits}, '[]', 3, now(), 'ada@example.com',
      now(), 'ada@example.com', '{}', false, '{}', 'warm',
      '{"idle_seconds": 600, "max_runs": 1000, "processes": 1}', '[]'
    FROM generate_series(1, ${scripts + 1}) n`,
    `INSERT INTO script_files SELECT script_id, path, saved, repeat('a', 64), 1000, now()
    FROM scripts, unnest(ARRAY['main.py', 'requirements.txt', 'lib/helper.py']) path,
      generate_series(1, 3) saved`,
  ];
}

function othersRows(): readonly string[] {
  return [
    `INSERT INTO events (stream_id, version, event_id, type, schema_version, data, metadata, recorded_at)
    SELECT 'script-${scriptOf(1)}', n, gen_random_uuid(), 'ScriptChanged', 1,
      '{"scriptId": "${scriptOf(1)}", "version": 1, "settings": {"description": "x"}}',
      '{"actor": {"kind": "system", "name": "bench"}, "ip": null, "correlationId": "x",
        "causationId": null, "commandId": "x"}', now()
    FROM generate_series(1, ${Math.round(wantedRuns / 50)}) n`,
    `INSERT INTO audit (audit_seq, event_id, event_position, time, actor, action, resource, outcome, ip,
      correlation_id, event_hash, prev_hash, hash)
    SELECT n, gen_random_uuid(), n, now(), 'ada@example.com', 'run_queued', 'run-' || n, 'accepted',
      '127.0.0.1', 'x', repeat('a', 64), repeat('b', 64), repeat('c', 64)
    FROM generate_series(1, ${Math.round(wantedRuns / 20)}) n`,
    `INSERT INTO run_log_chunks (run_id, first_seq, last_seq, bytes, items)
    SELECT '${logged}', n * 20 + 1, n * 20 + 20, 600, (SELECT json_agg(json_build_object('seq', n * 20 + l,
      'time', '2026-06-01T00:00:00.000Z', 'stream', 'stdout', 'text', 'line ' || l))::text
      FROM generate_series(1, 20) l) FROM generate_series(0, 9999) n`,
  ];
}

/** The ID of a run with a long log. */
export const logged = '01920000-0000-7000-8000-000000000001';

/** Returns SQL that inserts `runs` runs, most of which belong to a few scripts. The pseudorandom values are the same
 *  every time. */
function runRows({ runs, scripts }: Size): string {
  const ms = (historyDays * 86_400_000) / runs;
  return `INSERT INTO runs (run_id, stream_version, script_id, script_name, group_id, script_version,
    status, ended_as, waiting, available_at, stop_requested, trigger_type, trigger, requested_by,
    entrypoint, limits, environment, attempt, queued_at, started_at, finished_at, duration_ms,
    exit_code, failure_reason, runtime_id, fence, layers, cpu_seconds, max_memory_bytes, max_threads,
    log_lines, log_bytes, log_truncated, start_mode, listen_ports)
  SELECT (lpad(to_hex(at_ms), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid, 3,
    ('01910000-0000-7000-8000-' || lpad(script::text, 12, '0'))::uuid, 'Script ' || script,
    ('01900000-0000-7000-8000-' || lpad((CASE script WHEN ${scripts + 1} THEN 9
      ELSE 1 + script % 8 END)::text, 12, '0'))::uuid, 1,
    status, CASE WHEN ended THEN status END, false, ${time('at_ms')}, false, trigger,
    jsonb_build_object('type', trigger), 'ada@example.com', 'main.py', ${limits}, '{}', 1,
    ${time('at_ms')}, CASE WHEN status <> 'queued' THEN ${time('at_ms + 40')} END,
    CASE WHEN ended THEN ${time('at_ms + 40 + duration')} END, CASE WHEN ended THEN duration END,
    CASE status WHEN 'success' THEN 0 WHEN 'failed' THEN 1 END,
    CASE status WHEN 'failed' THEN 'exit_code' END, 'runtime-1', 2, '["rlimits"]', 0.1, 20000000, 1,
    5, 100, false, 'warm', '[]'
  FROM (
    SELECT n, at_ms, duration, trigger, script, ended,
      CASE WHEN NOT ended THEN CASE n % 2 WHEN 0 THEN 'queued' ELSE 'running' END
        WHEN script = ${scripts + 1} THEN CASE WHEN n <= 10000 THEN 'failed' ELSE 'success' END
        WHEN dice % 1000 < 900 THEN 'success' WHEN dice % 1000 < 980 THEN 'failed'
        ELSE 'stopped' END AS status
    FROM (
      SELECT n, (${beginsAt.getTime()} + n * ${ms})::bigint AS at_ms, n <= ${runs - 60} AS ended,
        dice, 50 + dice % 10007 AS duration,
        CASE WHEN n % 20 = 0 THEN ${scripts + 1}
          WHEN n % 20 = 1 AND n <= ${runs / 100} THEN ${scripts}
          ELSE 1 + floor(${scripts - 1} * power(dice % 1000003 / 1000003.0, 3))::integer END AS script,
        CASE WHEN n % 20 = 0 OR dice % 100003 < 60000 THEN 'schedule'
          WHEN dice % 100003 < 80000 THEN 'webhook' WHEN dice % 100003 < 90000 THEN 'manual'
          WHEN dice % 100003 < 97000 THEN 'api' WHEN dice % 100003 < 100000 THEN 'retry'
          ELSE 'rerun' END AS trigger
      FROM (SELECT n, abs(hashint8(n)::bigint) AS dice FROM generate_series(1::bigint, ${runs}) n) thrown
    ) placed
  ) decided`;
}

/** Queue rows for unfinished runs. */
const queueRows = `INSERT INTO run_queue (run_id, stream_version, script_id, priority, available_at,
    delayed, attempt, fence, stop_requested, waiting)
  SELECT run_id, stream_version, script_id, 0, available_at, false, attempt,
    CASE status WHEN 'running' THEN 2 END, false, false
  FROM (SELECT * FROM runs ORDER BY run_id DESC LIMIT 60) newest WHERE finished_at IS NULL`;

/**
 * Returns SQL for the counts that the projection would store. Counts by minute exist only for the end of the history,
 * because queries need only recent minutes.
 */
function figureRows(): readonly string[] {
  const binned = (seconds: number, since: string) => `
    SELECT g, date_bin('${seconds} s', finished_at, '1970-01-01Z') AS begins_at,
      1 + floor(ln(duration_ms) / ln(1.1::double precision) + 1e-9) AS bin, count(*) AS n,
      count(*) FILTER (WHERE ended_as = 'success') AS success,
      count(*) FILTER (WHERE ended_as = 'failed') AS failed,
      count(*) FILTER (WHERE ended_as = 'stopped') AS stopped,
      sum(cpu_seconds * 1000)::bigint AS cpu_ms, max(max_memory_bytes) AS max_memory_bytes
    FROM runs CROSS JOIN LATERAL (VALUES (group_id), ('${everywhere}'::uuid)) AS part (g)
    WHERE ended_as IS NOT NULL AND finished_at >= '${since}' GROUP BY 1, 2, 3`;
  const summed = (seconds: number, begins: string) => `
    INSERT INTO run_figures SELECT ${seconds}, g, at, sum(success), sum(failed), sum(stopped),
      sum(cpu_ms), max(max_memory_bytes), jsonb_object_agg(bin, n),
      jsonb_build_object('39', sum(n)) FROM (
        SELECT g, ${begins} AS at, bin, sum(n) AS n, sum(success) AS success, sum(failed) AS failed,
          sum(stopped) AS stopped, sum(cpu_ms) AS cpu_ms, max(max_memory_bytes) AS max_memory_bytes
        FROM binned GROUP BY 1, 2, 3) day GROUP BY g, at`;
  const lastDays = new Date(endsAt.getTime() - 2 * 86_400_000).toISOString();
  return [
    `CREATE TEMPORARY TABLE binned AS ${binned(3600, beginsAt.toISOString())}`,
    summed(3600, 'begins_at'),
    summed(86_400, "date_bin('1 day', begins_at, '1970-01-01Z')"),
    'DROP TABLE binned',
    `CREATE TEMPORARY TABLE binned AS ${binned(60, lastDays)}`,
    summed(60, 'begins_at'),
    summed(900, "date_bin('15 min', begins_at, '1970-01-01Z')"),
    `INSERT INTO figure_runs SELECT run_id, group_id, queued_at, started_at FROM runs
      WHERE finished_at IS NULL AND run_id IN (SELECT run_id FROM run_queue)`,
  ];
}
