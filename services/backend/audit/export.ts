/** Streams the audit trail as a file, in constant memory. */
import type { SignedHead } from '#infra/audit/head-signer.ts';
import { listAudit } from '#projections/audit/queries.ts';
import type { AuditTable } from '#projections/audit/table.ts';
import type { ReadModels } from '#projections/projection.ts';

export type ExportFormat = 'ndjson' | 'csv';

/** The entries to export. */
export interface ExportRange {
  readonly fromSeq: number;
  /** The last exported entry. If `undefined`, the export is empty. */
  readonly head: SignedHead | undefined;
  /** Groups whose entries are included; `null` for all. Other entries contain only the fields that link the chain. */
  readonly groupIds: readonly string[] | null;
}

const entriesPerPage = 500;

/** The hashed fields of an entry, its hash and the position of its event, in the column order of CSV. */
const columns = [
  'audit_seq',
  'time',
  'actor',
  'action',
  'resource',
  'outcome',
  'detail',
  'ip',
  'correlation_id',
  'causation_id',
  'event_id',
  'event_position',
  'event_hash',
  'prev_hash',
  'hash',
] as const satisfies readonly (keyof AuditTable)[];

const linkColumns: readonly string[] = ['audit_seq', 'prev_hash', 'hash'];

type Exported = Readonly<Record<string, unknown>>;

const writers: Readonly<
  Record<
    ExportFormat,
    {
      readonly begin: string;
      readonly entry: (entry: Exported) => string;
      readonly end: (head: SignedHead | undefined) => string;
    }
  >
> = {
  ndjson: {
    begin: '',
    entry: (entry) => `${JSON.stringify(entry)}\n`,
    end: (head) => `${JSON.stringify({ head: head ?? null })}\n`,
  },
  csv: {
    begin: `${columns.join(',')}\r\n`,
    entry: (entry) => `${columns.map((name) => cell(entry[name])).join(',')}\r\n`,
    // The head in CSV is a comment, which spreadsheets show as text.
    end: (head) => `${cell(`# ${JSON.stringify({ head: head ?? null })}`)}\r\n`,
  },
};

/** Streams the entries, oldest first. The head comes last, so that a truncated file is detected. */
export async function* exportTrail(
  db: ReadModels,
  format: ExportFormat,
  range: ExportRange,
): AsyncGenerator<Uint8Array, void> {
  const { begin, entry, end } = writers[format];
  yield Buffer.from(begin);
  for await (const rows of entriesOf(db, range)) {
    yield Buffer.from(rows.map((row) => entry(shownOf(row, range.groupIds))).join(''));
  }
  yield Buffer.from(end(range.head));
}

async function* entriesOf(
  db: ReadModels,
  { fromSeq, head }: ExportRange,
): AsyncGenerator<readonly AuditTable[], void> {
  const last = head?.audit_seq ?? 0;
  for (let after = fromSeq - 1; after < last;) {
    const limit = Math.min(entriesPerPage, last - after);
    const rows = await listAudit(db, { groupIds: null }, { order: 'asc', after, limit });
    const end = rows.at(-1);
    if (end === undefined) throw new Error(`the audit trail ends before entry ${last}`);
    yield rows;
    after = end.audit_seq;
  }
}

function shownOf(row: AuditTable, groupIds: ExportRange['groupIds']): Exported {
  const isShown = groupIds === null || (row.group_id !== null && groupIds.includes(row.group_id));
  const names = isShown ? columns : columns.filter((name) => linkColumns.includes(name));
  const shown = Object.fromEntries(names.map((name) => [name, row[name]]));
  return isShown ? shown : { ...shown, withheld: true };
}

/** Formats a value as CSV (RFC 4180). Spreadsheets evaluate text that begins like a formula; a leading `'` prevents
 *  this. Text that begins with `'` gets another `'`, so the prefix can be removed unambiguously. A null value is
 *  empty; empty text is a single `'`. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const plain = value instanceof Date ? value.toISOString() : String(value as string | number);
  const text = plain === '' || /^[=+\-@\t\r\n']/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
