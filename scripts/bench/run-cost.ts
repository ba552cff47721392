/** Measures the cost of runs: processor time by part, and the database's transactions and bytes. */
import { setTimeout as pause } from 'node:timers/promises';
import type { DatabaseNode } from '#infra/testing/database-node.ts';
import type { Fleet } from '#services/minimal/testing/fleet.ts';
import { cpuOf, ownCpuOf } from './trees.ts';

export const cpuParts = [
  'client',
  'backend',
  'runtime',
  'sandbox',
  'scheduler',
  'Postgres',
] as const;
export type CpuPart = (typeof cpuParts)[number];

export interface Usage {
  /** Milliseconds of processor time by part. `sandbox` means launchers, supervisors and scripts; `client` means this
   *  process. */
  readonly cpuMs: Readonly<Record<CpuPart, number>>;
  readonly transactions: number;
  readonly rowsWritten: number;
  readonly walBytes: number;
  /** The size of each table in bytes, including its indexes. */
  readonly tableBytes: Readonly<Record<string, number>>;
}

/** Waits for background work. The scheduler writes the audit list and the statistics after the runs. Database sessions
 *  report their statistics once a second. */
const settleMs = 3_000;

const database = `SELECT xact_commit AS transactions, tup_inserted + tup_updated + tup_deleted AS rows,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS wal
  FROM pg_stat_database WHERE datname = current_database()`;
const tables = `SELECT relname AS name, pg_total_relation_size(oid) AS bytes
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;

interface Counters {
  readonly transactions: string;
  readonly rows: string;
  readonly wal: string;
}

/** Returns the resource usage of all processes since they started. */
export async function usageOf(fleet: Fleet, node: DatabaseNode): Promise<Usage> {
  await pause(settleMs);
  const [[counters], sizes, cpuMs] = await Promise.all([
    node.query<Counters>(database),
    node.query<{ name: string; bytes: string }>(tables),
    cpuByPart(fleet, node),
  ]);
  return {
    cpuMs,
    transactions: Number(counters?.transactions),
    rowsWritten: Number(counters?.rows),
    walBytes: Number(counters?.wal),
    tableBytes: Object.fromEntries(sizes.map(({ name, bytes }) => [name, Number(bytes)])),
  };
}

/** Returns the processor time of all processes since they started, in milliseconds. */
export async function cpuByPart(fleet: Fleet, node: DatabaseNode): Promise<Usage['cpuMs']> {
  const sum = async (kind: 'backend' | 'runtime' | 'scheduler', of: typeof cpuOf) => {
    const times = await Promise.all(fleet.of(kind).map(({ pid }) => of(pid)));
    return times.reduce((total, each) => total + each, 0);
  };
  const { user, system } = process.cpuUsage();
  const [backend, runtime, withSandbox, scheduler, postgres] = await Promise.all([
    sum('backend', cpuOf),
    sum('runtime', ownCpuOf),
    sum('runtime', cpuOf),
    sum('scheduler', cpuOf),
    cpuOf(node.pid),
  ]);
  return {
    client: (user + system) / 1000,
    backend,
    runtime,
    sandbox: withSandbox - runtime,
    scheduler,
    Postgres: postgres,
  };
}

/** Subtracts each number in `other`, multiplied by `times`, from the corresponding number in `one`. */
export function subtract(one: Usage, other: Usage, times = 1): Usage {
  return combine(one, other, (first, second) => first - times * second);
}

export function divide(usage: Usage, by: number): Usage {
  return combine(usage, usage, (each) => each / by);
}

function combine(one: Usage, other: Usage, of: (first: number, second: number) => number): Usage {
  const each = <Name extends string>(
    first: Readonly<Record<Name, number>>,
    second: Readonly<Partial<Record<Name, number>>>,
  ) =>
    Object.fromEntries(
      (Object.keys(first) as Name[]).map((name) => [name, of(first[name], second[name] ?? 0)]),
    ) as Record<Name, number>;
  return {
    cpuMs: each(one.cpuMs, other.cpuMs),
    transactions: of(one.transactions, other.transactions),
    rowsWritten: of(one.rowsWritten, other.rowsWritten),
    walBytes: of(one.walBytes, other.walBytes),
    tableBytes: each(one.tableBytes, other.tableBytes),
  };
}
