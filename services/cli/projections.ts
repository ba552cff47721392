/** `projections list` and `projections rebuild`. */
import type { TableComparison } from '#infra/postgres/compare-tables.ts';
import { listCheckpoints } from '#infra/postgres/checkpoints.ts';
import { outdatedRows, recordedVersions } from '#infra/postgres/projection-versions.ts';
import { rebuildProjection } from '#infra/postgres/rebuild.ts';
import type { Projection } from '#projections/projection.ts';
import { asyncProjections, inlineProjections } from '#projections/registry.ts';
import type pg from 'pg';
import type { Terminal } from './terminal.ts';

export const usage = `Usage:
  node services/cli/main.ts projections list
  node services/cli/main.ts projections rebuild <name>
  node services/cli/main.ts projections rebuild --outdated
ORCH_DATABASE_ADMIN_URL names the database; without it, the one in ORCH_DATA_DIR is used.`;

const all = [...inlineProjections, ...asyncProjections];

/** @param pool connections as the schema's owner  @returns the exit code */
export async function projectionsCommand(
  [verb, name, ...more]: readonly string[],
  pool: pg.Pool,
  terminal: Terminal,
): Promise<number> {
  if (verb === 'list' && name === undefined) return await list(pool, terminal);
  if (verb !== 'rebuild' || name === undefined || more.length > 0) {
    terminal.problem(usage);
    return 2;
  }
  if (name === '--outdated') {
    for (const { projection } of await outdatedRows(pool, all)) {
      await rebuild(projection, pool, terminal);
    }
    return 0;
  }
  const projection = all.find((one) => one.name === name);
  if (projection === undefined) {
    terminal.problem(`There is no projection ${name}: ${all.map((one) => one.name).join(', ')}`);
    return 2;
  }
  await rebuild(projection, pool, terminal);
  return 0;
}

async function list(pool: pg.Pool, terminal: Terminal): Promise<number> {
  const versions = await recordedVersions(pool);
  const places = new Map((await listCheckpoints(pool)).map((one) => [one.name, one]));
  for (const { name, version } of all) {
    const recorded = versions.get(name);
    const place = places.get(name);
    const state = recorded === version ? 'current' : `of version ${recorded ?? 'none'}: rebuild it`;
    const kind = place === undefined ? 'with each event' : `${place.lag} events behind`;
    terminal.line(`${name.padEnd(20)} version ${version}  ${state.padEnd(30)} ${kind}`);
  }
  return 0;
}

async function rebuild(projection: Projection, pool: pg.Pool, terminal: Terminal): Promise<void> {
  const { name } = projection;
  const { tables, behind } = await rebuildProjection({
    pool,
    projection,
    kind: inlineProjections.includes(projection) ? 'inline' : 'async',
    // The last part is the switch, of which there is nothing to be seen.
    onProgress: ({ position, newest }) =>
      terminal.progress(name, newest === 0 ? 0 : Math.min(0.99, position / newest)),
  });
  terminal.progress(name, 1);
  for (const table of tables) terminal.line(comparisonLine(table));
  if (behind > 0) {
    terminal.line(`${behind} events came while they were compared; what differs may be theirs.`);
  }
}

function comparisonLine(found: TableComparison): string {
  const { table, rowsBefore, rowsAfter, lost, added, changed, keys } = found;
  const rows = `${table}: ${rowsBefore} rows before, ${rowsAfter} after`;
  if (lost + added + changed === 0) return `${rows}, all the same`;
  return `${rows}; ${lost} gone, ${added} new, ${changed} changed, such as ${keys.join(', ')}`;
}
