/** Implements `projections list` and `projections rebuild`. */
import type { TableComparison } from '#infra/postgres/rebuild/compare-tables.ts';
import { listCheckpoints } from '#infra/postgres/readers/checkpoints.ts';
import { outdatedRows, recordedVersions } from '#infra/postgres/rebuild/projection-versions.ts';
import { rebuildProjection } from '#infra/postgres/rebuild/rebuild.ts';
import type { Projection } from '#projections/projection.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import type pg from 'pg';
import { usageProblem } from './problem.ts';
import type { Terminal } from './terminal.ts';

const all = [...inlineProjections, ...asyncProjections];

/** @param pool connected as the schema's owner */
export async function listProjections(
  pool: pg.Pool,
  terminal: Terminal,
  asJson = false,
): Promise<void> {
  const versions = await recordedVersions(pool);
  const lags = new Map((await listCheckpoints(pool)).map(({ name, lag }) => [name, lag]));
  const rows = all.map(({ name, version }) => ({
    name,
    version,
    /** The version that made the rows. */
    made_by_version: versions.get(name) ?? null,
    /** `null` if the read model is updated with each event. */
    lag: lags.get(name) ?? null,
  }));
  if (asJson) {
    terminal.line(JSON.stringify(rows));
    return;
  }
  for (const { name, version, made_by_version: recorded, lag } of rows) {
    const state =
      recorded === version ? 'current' : `made by version ${recorded ?? 'none'}: rebuild it`;
    const kind = lag === null ? 'updated with each event' : `${lag} events behind`;
    terminal.line(`${name.padEnd(20)} version ${version}  ${state.padEnd(30)} ${kind}`);
  }
}

/** Rebuilds projections whose rows are from another version.
 *  @param pool connected as the schema's owner */
export async function rebuildOutdated(pool: pg.Pool, terminal: Terminal): Promise<void> {
  for (const { projection } of await outdatedRows(pool, all)) {
    await rebuild(projection, pool, terminal);
  }
}

/** @param pool connected as the schema's owner
 *  @throws CommandProblem if the name is unknown */
export async function rebuildNamed(name: string, pool: pg.Pool, terminal: Terminal): Promise<void> {
  const projection = all.find((one) => one.name === name);
  if (projection === undefined) {
    throw usageProblem(
      `Unknown projection ${name}. Projections: ${all.map((one) => one.name).join(', ')}`,
    );
  }
  await rebuild(projection, pool, terminal);
}

async function rebuild(projection: Projection, pool: pg.Pool, terminal: Terminal): Promise<void> {
  const { name } = projection;
  const { tables, behind } = await rebuildProjection({
    pool,
    projection,
    kind: inlineProjections.includes(projection) ? 'inline' : 'async',
    // Stays below 100 %, because the last step, which activates the new rows, reports no progress.
    onProgress: ({ position, newest }) =>
      terminal.progress(name, newest === 0 ? 0 : Math.min(0.99, position / newest)),
  });
  terminal.progress(name, 1);
  for (const table of tables) terminal.line(comparisonLine(table));
  if (behind > 0) {
    terminal.line(
      `${behind} events were recorded during the comparison and may explain differences.`,
    );
  }
}

function comparisonLine(found: TableComparison): string {
  const { table, rowsBefore, rowsAfter, lost, added, changed, keys } = found;
  const rows = `${table}: ${rowsBefore} rows before, ${rowsAfter} after`;
  if (lost + added + changed === 0) return `${rows}, all identical`;
  return `${rows}; ${lost} removed, ${added} added, ${changed} changed, such as ${keys.join(', ')}`;
}
