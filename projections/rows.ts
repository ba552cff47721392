/** Projections whose rows are folds: one row per stream, one step per event. */
import { sql } from 'kysely';
import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { Columns } from './columns.ts';
import type { Past, Projection, ReadModels, Write } from './projection.ts';
import { statement, write } from './statement.ts';
import type { Tables } from './tables.ts';

/** A row with the version of the last applied event. */
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
  /** Columns of the table outside `columns`: other code writes them, and a rebuild preserves them. */
  readonly kept?: readonly string[];
  readonly keyOf: (event: Event) => string;
  /** The row after the event; `undefined` deletes the row. The caller sets `stream_version`. */
  readonly step: (row: Row | undefined, event: Event) => Omit<Row, 'stream_version'> | undefined;
}

/** Creates a projection from a fold: loads the rows once, folds them in memory and writes one statement per batch. */
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
    writes: (events, past) => writesOf(fold, statements, events as readonly Event[], past),
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

/** Built once, because every command waits for these statements. */
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
    // A row with a later version is unchanged.
    upsert: `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM unnest(${values.join(', ')})
      ON CONFLICT (${key}) DO UPDATE SET ${changes.join(', ')}
      WHERE ${table}.stream_version < excluded.stream_version`,
    // A deleted row is not recreated.
    update: `UPDATE ${table} SET ${changes.join(', ')}
      FROM unnest(${values.join(', ')}) AS excluded (${names.join(', ')})
      WHERE ${table}.${key} = excluded.${key} AND ${table}.stream_version < excluded.stream_version`,
    remove: `DELETE FROM ${table} WHERE ${key} = ANY($1::uuid[])`,
  };
}

/** The rows that events produce, and the keys of deleted rows. */
interface Folded<Row> {
  readonly written: readonly Row[];
  readonly gone: readonly string[];
}

/** Folds the events. @param rows the previous rows by key; updated in place */
function foldInto<Row extends StreamRow, Event extends Recorded>(
  { keyOf, step }: RowFold<Row, Event>,
  rows: Map<string, Row>,
  events: readonly Event[],
): Folded<Row> {
  const there = new Set(rows.keys());
  const gone = new Set<string>();
  const touched = new Set<string>();
  for (const event of events) {
    const id = keyOf(event);
    const row = rows.get(id);
    if (row !== undefined && row.stream_version >= event.version) continue;
    const next = step(row, event);
    if (next === undefined) {
      rows.delete(id);
      touched.delete(id);
      gone.add(id);
    } else {
      rows.set(id, { ...next, stream_version: event.version } as Row);
      touched.add(id);
      gone.delete(id);
    }
  }
  return {
    // Existing rows are written in a fixed order, because other writers may lock them too. New rows are written in
    // the order of the events, because the database may number them.
    written: [
      ...[...touched].filter((id) => there.has(id)).toSorted(),
      ...[...touched].filter((id) => !there.has(id)),
    ].flatMap((id) => rows.get(id) ?? []),
    gone: [...gone].toSorted(),
  };
}

async function applyFold<Row extends StreamRow, Event extends Recorded>(
  db: ReadModels,
  fold: RowFold<Row, Event>,
  statements: Statements<Row>,
  events: readonly Event[],
): Promise<void> {
  const rows = await loadRows(db, fold, statements, events);
  const { written, gone } = foldInto(fold, rows, events);
  await write(db, [
    ...(written.length > 0 ? [rowsBy(statements.upsert, fold, written)] : []),
    ...(gone.length > 0 ? [removal(statements, gone)] : []),
  ]);
}

/** The row derives from the events of its stream. If all of them are in memory, nothing is loaded. */
function writesOf<Row extends StreamRow, Event extends Recorded>(
  fold: RowFold<Row, Event>,
  statements: Statements<Row>,
  events: readonly Event[],
  past: Past,
): readonly Write[] | undefined {
  const rows = new Map<string, Row>();
  const known = new Set<string>();
  for (const event of events) {
    const id = fold.keyOf(event);
    if (known.has(id)) continue;
    known.add(id);
    const before = past(event.streamId);
    if (before === undefined) return undefined;
    // A stream may have several rows.
    const own = (before as readonly Event[]).filter(
      (one) => fold.handles.includes(one.type) && fold.keyOf(one) === id,
    );
    const row = rowAfter(fold, own);
    if (row !== undefined) rows.set(id, row);
  }
  const there = new Set(rows.keys());
  const { written, gone } = foldInto(fold, rows, events);
  const isThere = (row: Row) => there.has(String(row[fold.key]));
  const changed = written.filter(isThere);
  const made = written.filter((row) => !isThere(row));
  return [
    ...(made.length > 0 ? [rowsBy(statements.upsert, fold, made)] : []),
    ...(changed.length > 0 ? [rowsBy(statements.update, fold, changed)] : []),
    ...(gone.length > 0 ? [removal(statements, gone)] : []),
  ];
}

function rowsBy<Row extends StreamRow, Event extends Recorded>(
  text: string,
  { columns }: RowFold<Row, Event>,
  rows: readonly Row[],
): Write {
  return { text, values: columnsOf(columns, rows) };
}

function removal({ remove: text }: { readonly remove: string }, keys: readonly string[]): Write {
  return { text, values: [arrayLiteral(keys)] };
}

async function loadRows<Row extends StreamRow, Event extends Recorded>(
  db: ReadModels,
  fold: RowFold<Row, Event>,
  statements: Statements<Row>,
  events: readonly Event[],
): Promise<Map<string, Row>> {
  // The first event of a stream finds no row unless it is redelivered. The upsert handles that case.
  const keys = [...new Set(events.filter((one) => one.version > 1).map(fold.keyOf))].toSorted();
  if (keys.length === 0) return new Map();
  const rows = await statements.load(db, keys);
  return new Map(rows.map((row) => [String(row[fold.key]), row]));
}

/** The columns of the rows as arrays. */
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

/** Encodes an array in the syntax of Postgres, except JSON, which is passed as text. The driver's own encoding is
 *  slow, because it inspects each value, and would treat a nested array as a dimension. */
export function arrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(elementOf).join(',')}}`;
}

function elementOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (typeof value !== 'string') return JSON.stringify(value);
  return `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}
