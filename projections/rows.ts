/** Projections whose rows are folds: one row a stream, each event a step. */
import { sql } from 'kysely';
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Columns } from './columns.ts';
import type { Projection, ReadModels } from './projection.ts';
import { statement } from './statement.ts';
import type { Tables } from './tables.ts';

/** A row that knows the last event it has seen. */
export interface StreamRow {
  readonly stream_version: number;
}

export interface RowFold<Row extends StreamRow, Event extends Recorded> {
  readonly name: string;
  readonly version: number;
  readonly table: keyof Tables;
  readonly key: keyof Row & string;
  readonly columns: Columns<Row>;
  readonly handles: readonly EventType[];
  /** Columns of the table that are not in `columns`: others write them, and a rebuild keeps them. */
  readonly kept?: readonly string[];
  readonly keyOf: (event: Event) => string;
  /** The row after the event; `undefined` where there is to be none. `stream_version` is set by the
   *  caller. */
  readonly step: (row: Row | undefined, event: Event) => Omit<Row, 'stream_version'> | undefined;
}

/** Makes a projection of a fold: rows are loaded once, folded in memory and written as one statement
 *  a batch. */
export function rowProjection<Row extends StreamRow, Event extends Recorded>(
  fold: RowFold<Row, Event>,
): Projection {
  const statements = statementsOf(fold);
  return {
    name: fold.name,
    version: fold.version,
    handles: fold.handles,
    tables: [fold.table],
    ...(fold.kept && { kept: fold.kept }),
    apply: (db, events) => applyFold(db, fold, statements, events as readonly Event[]),
    rowAfter: (events) => rowAfter(fold, events as readonly Event[]),
  };
}

function rowAfter<Row extends StreamRow, Event extends Recorded>(
  { handles, step }: RowFold<Row, Event>,
  events: readonly Event[],
): Row | undefined {
  let row: Row | undefined;
  for (const event of events) {
    if (!handles.includes(event.type)) continue;
    const next = step(row, event);
    row = next && ({ ...next, stream_version: event.version } as Row);
  }
  return row;
}

type Statements<Row extends StreamRow> = ReturnType<typeof statementsOf<Row, Recorded>>;

/** Made once: every command waits for them to be carried out. */
function statementsOf<Row extends StreamRow, Event extends Recorded>({
  table,
  key,
  columns,
}: RowFold<Row, Event>) {
  const names = Object.keys(columns) as (keyof Row & string)[];
  const values = names.map((name, index) => `$${index + 1}::${columns[name]}[]`);
  const changes = names.filter((name) => name !== key).map((name) => `${name} = excluded.${name}`);
  return {
    load: statement<Row>(`SELECT ${names.join(', ')} FROM ${table} WHERE ${key} = ANY($1::uuid[])`),
    // A row that has seen more already stays as it is.
    upsert:
      statement(`INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM unnest(${values.join(', ')})
      ON CONFLICT (${key}) DO UPDATE SET ${changes.join(', ')}
      WHERE ${table}.stream_version < excluded.stream_version`),
    remove: statement(`DELETE FROM ${table} WHERE ${key} = ANY($1::uuid[])`),
  };
}

async function applyFold<Row extends StreamRow, Event extends Recorded>(
  db: ReadModels,
  fold: RowFold<Row, Event>,
  statements: Statements<Row>,
  events: readonly Event[],
): Promise<void> {
  const rows = await loadRows(db, fold, statements, events);
  const gone = new Set<string>();
  const touched = new Set<string>();
  for (const event of events) {
    const key = fold.keyOf(event);
    const row = rows.get(key);
    if (row !== undefined && row.stream_version >= event.version) continue;
    const next = fold.step(row, event);
    if (next === undefined) {
      rows.delete(key);
      touched.delete(key);
      gone.add(key);
    } else {
      rows.set(key, { ...next, stream_version: event.version } as Row);
      touched.add(key);
      gone.delete(key);
    }
  }
  const written = [...touched].toSorted().flatMap((key) => rows.get(key) ?? []);
  if (written.length > 0) await statements.upsert(db, ...columnsOf(fold.columns, written));
  if (gone.size > 0) await statements.remove(db, [...gone].toSorted());
}

async function loadRows<Row extends StreamRow, Event extends Recorded>(
  db: ReadModels,
  fold: RowFold<Row, Event>,
  statements: Statements<Row>,
  events: readonly Event[],
): Promise<Map<string, Row>> {
  // A stream's first event finds no row, unless it is delivered again; the upsert settles that.
  const keys = [...new Set(events.filter((one) => one.version > 1).map(fold.keyOf))].toSorted();
  if (keys.length === 0) return new Map();
  const rows = await statements.load(db, keys);
  return new Map(rows.map((row) => [String(row[fold.key]), row]));
}

/** Each column of the rows as one array. */
function columnsOf<Row>(columns: Columns<Row>, rows: readonly Row[]): readonly string[] {
  return (Object.keys(columns) as (keyof Row & string)[]).map((name) =>
    arrayLiteral(rows.map((row) => (columns[name] === 'jsonb' ? asJson(row[name]) : row[name]))),
  );
}

/** One column of many rows as one array parameter. */
export function unnested(type: string, values: readonly unknown[]) {
  const literal = arrayLiteral(type === 'jsonb' ? values.map(asJson) : values);
  return sql`${literal}::${sql.raw(type)}[]`;
}

function asJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** An array as Postgres reads it. The driver could make one too, but looks at each value for long, and
 *  would take a nested array for a dimension. */
function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(elementOf).join(',')}}`;
}

function elementOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (typeof value !== 'string') return JSON.stringify(value);
  return `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}
