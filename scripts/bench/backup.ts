/** Backs up a large installation while runs execute, and restores the backup in another installation. Not part of `make
 *  bench`, because it takes minutes: `node scripts/bench/backup.ts`. Results: docs/backup.md. */
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { embeddedAddresses } from '#infra/embedded/postgres.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { Product, until } from '#services/minimal/testing/product.ts';
import { makeRuns } from './history.ts';
import { row } from './report.ts';

const scripts = 1_000;
const events = 200_000;
const cli = fileURLToPath(new URL('../../services/cli/main.ts', import.meta.url));

interface Backup {
  readonly id: string;
  readonly status: string;
  readonly size_bytes: number;
  readonly events: number;
  readonly created_at: string;
  readonly finished_at: string;
  readonly verified_at: string | null;
}

const product = await Product.start({ variables: { ORCH_RUNTIME_SLOTS: '2' } });
const folder = await mkdtemp(join(tmpdir(), 'bench-backup-'));
const elsewhere = join(folder, 'data');
try {
  const pool = open(product.dataDir);
  await fill(pool);
  const running = keepRunning();
  const backup = await measured('backup during runs', async () => {
    const { id } = await product.call<Backup>('POST', '/backups');
    return await untilDone(id, ({ status }) => status !== 'running');
  });
  const memory = await peakMb(await product.pidOf('backend'));
  await measured('verifying it', async () => {
    await product.call('POST', `/backups/${backup.id}/verify`);
    await untilDone(backup.id, (one) => one.verified_at !== null);
  });
  const runs = await running.stop();
  const file = join(folder, 'backup.tar');
  await measured('downloading it', () => download(backup.id, file));
  const sizeMb = ((await stat(file)).size / 1e6).toFixed(1);
  row('backup', `${backup.events} events, ${sizeMb} MB`, '');
  row('runs that ended in the meantime', String(runs), '');
  row('most memory of the backend and the scheduler', `${memory} MB`, '');
  await mkdir(join(elsewhere, 'secrets'), { recursive: true });
  const masterKey = join('secrets', 'SECRET_MASTER_KEY');
  await copyFile(join(product.dataDir, masterKey), join(elsewhere, masterKey));
  await measured('restoring it elsewhere', () =>
    promisify(execFile)(process.execPath, [cli, 'backup', 'restore', file], {
      env: { ...process.env, ORCH_DATA_DIR: elsewhere },
    }),
  );
  await compareWithRestored(pool.pool, backup);
  await pool.close();
} finally {
  await product.stop();
  await product.remove();
  await rm(folder, { recursive: true, force: true });
}

function open(dataDir: string): Database {
  const addresses = embeddedAddresses(join(dataDir, 'postgres'));
  if (addresses === undefined) throw new Error('there is no database');
  return openDatabase(addresses.adminUrl, {
    connections: 2,
    applicationName: 'bench',
    onIdleError: () => undefined,
  });
}

async function fill({ pool }: Database): Promise<void> {
  for (let done = 0; done < scripts; done += 20) {
    const some = Array.from({ length: 20 }, (_, index) =>
      product.call('POST', '/scripts', { name: `Script ${done + index}` }),
    );
    await Promise.all(some);
  }
  const { rows } = await pool.query<{ count: number }>('SELECT count(*) AS count FROM events');
  await makeRuns(pool, Math.ceil((events - (rows[0]?.count ?? 0)) / 3), 'finished');
  await pool.query('ANALYZE');
  for (;;) {
    const { projections } = await product.call<{ projections: { lag: number }[] }>(
      'GET',
      '/system/info',
    );
    if (projections.every(({ lag }) => lag === 0)) return;
    await pause(500);
  }
}

/** Starts runs one after another until the benchmark stops this loop. */
function keepRunning() {
  let isOver = false;
  let ended = 0;
  const work = (async () => {
    const id = await product.script('Busy', { 'main.py': 'print("hello")\n' });
    while (!isOver) {
      const { run_id: runId } = await product.run(id);
      await product.untilFinished(runId);
      ended += 1;
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await work;
      return ended;
    },
  };
}

async function untilDone(id: string, isDone: (backup: Backup) => boolean): Promise<Backup> {
  for (;;) {
    const found = await until('the backup answers', async () => {
      const backup = await product.call<Backup>('GET', `/backups/${id}`);
      return isDone(backup) ? backup : undefined;
    }).catch(() => undefined);
    if (found !== undefined) return found;
  }
}

async function measured<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const startedMs = performance.now();
  const result = await work();
  row(what, `${((performance.now() - startedMs) / 1000).toFixed(1)} s`, '');
  return result;
}

async function download(id: string, file: string): Promise<void> {
  const answer = await product.fetch('GET', `/backups/${id}/download`);
  if (answer.body === null) throw new Error('nothing was downloaded');
  await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(file));
}

async function peakMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Compares the replay and the events of the restored installation with the original ones, and verifies the audit
 *  chain. */
async function compareWithRestored(before: Database['pool'], backup: Backup): Promise<void> {
  const restored = await Product.start({
    dataDir: elsewhere,
    variables: { ORCH_RUNTIME_SLOTS: '0' },
  });
  const database = open(elsewhere);
  try {
    const at = new Date(Date.parse(backup.created_at) - 1).toISOString();
    const replays = [await replayOf(product, at), await replayOf(restored, at)];
    row('the same by replay', String(replays[0] === replays[1]), 'true');
    const histories = [
      await historyOf(before, backup.events),
      await historyOf(database.pool, backup.events),
    ];
    row('the same events in the same order', String(histories[0] === histories[1]), 'true');
    const { valid, entries } = await restored.call<{ valid: boolean; entries: number }>(
      'GET',
      '/audit/verify',
    );
    row('the audit chain verifies', `${valid}, ${entries} entries`, 'true');
  } finally {
    await database.close();
    await restored.stop();
  }
}

async function replayOf(one: Product, at: string): Promise<string> {
  const hash = createHash('sha256');
  const { scripts: _, ...overview } = await one.call<{ scripts: unknown }>(
    'GET',
    `/replay?at=${at}&limit=200`,
  );
  hash.update(JSON.stringify(overview));
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: { next_cursor: string | null } = await one.call(
      'GET',
      `/replay/scripts?at=${at}&limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    cursor = page.next_cursor;
    hash.update(JSON.stringify({ ...page, next_cursor: null }));
  }
  return hash.digest('hex');
}

async function historyOf(pool: Database['pool'], count: number): Promise<string> {
  const { rows } = await pool.query<{ hash: string }>(
    `SELECT md5(string_agg(md5(concat_ws('|', stream_id, version, event_id, type, data, metadata, recorded_at)), ''
       ORDER BY place)) AS hash
     FROM (SELECT *, row_number() OVER (ORDER BY transaction_id, global_position) AS place FROM events) e
     WHERE place <= $1`,
    [count],
  );
  return rows[0]?.hash ?? '';
}
