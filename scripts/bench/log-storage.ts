import { PostgresRunLogs } from '#infra/postgres/logs/run-logs.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { LogWriter } from '#services/runtime/logs/log-writer.ts';
import { createRunLog } from '#services/runtime/logs/run-log.ts';
import type pg from 'pg';
import { compare, perSecond } from './compare.ts';
import { onDatabase } from './database.ts';

const lines = 60_000;
const singleLines = 600;
const rounds = 7;
/** The maximum number of bytes per read from a pipe. */
const pieceBytes = 64 * 1024;

/** Measures storing a run's log in the database, compared with one row per line. */
export function benchLogStorage(): Promise<void> {
  return onDatabase(async (database) => {
    const pool = database.open(2);
    const owner = database.open(1, 'admin');
    await owner.query(`CREATE TABLE bench_lines (run_id uuid, seq bigint, time timestamptz,
      stream text, text text, PRIMARY KEY (run_id, seq))`);
    await compare({
      figure: 'log lines/s stored / one row per line',
      bar: '≥ 80',
      unit: '/s',
      rounds,
      ours: () => perSecond(lines, () => writeLog(pool)),
      theirs: () => perSecond(singleLines, () => insertEach(owner)),
    });
  });
}

async function writeLog(pool: pg.Pool): Promise<void> {
  const log = createRunLog(
    new LogWriter({
      runId: systemIds.next(),
      limitBytes: null,
      store: new PostgresRunLogs(pool),
      clock: systemClock,
      onRetry: (error) => {
        throw error;
      },
    }),
  );
  const bytes = Buffer.from(Array.from({ length: lines }, (_, index) => lineOf(index)).join(''));
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    await log.write('stdout', bytes.subarray(at, at + pieceBytes));
  }
  const stored = await log.close();
  if (stored.lines !== lines) throw new Error(`${stored.lines} lines of ${lines} were stored`);
}

/** Inserts one line at a time, so that lines keep their order. */
async function insertEach(pool: pg.Pool): Promise<void> {
  const runId = systemIds.next();
  for (let seq = 1; seq <= singleLines; seq += 1) {
    await pool.query(`INSERT INTO bench_lines VALUES ($1, $2, $3, 'stdout', $4)`, [
      runId,
      seq,
      systemClock.now(),
      lineOf(seq).trimEnd(),
    ]);
  }
}

function lineOf(index: number): string {
  return `2026-01-01 12:00:00 INFO worker handled request ${index} in 12 ms\n`;
}
