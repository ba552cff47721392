/** Parses the content of artifacts into tables. */

export interface TableContent {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The number of rows in the file, or null if only the beginning of the file was read. */
  readonly totalRows: number | null;
}

const maxRows = 500;

/** Parses the first rows of a CSV file (RFC 4180), also with tabs or semicolons as separators.
 *  @param isWhole whether `text` is the whole file; otherwise, its last row may be incomplete */
export function csvTable(text: string, isWhole: boolean): TableContent {
  const separator = separatorOf(text);
  const rows = separatedRows(text, separator);
  if (!isWhole && rows.length > 1) rows.pop();
  const [columns = [], ...rest] = rows;
  return { columns, rows: rest.slice(0, maxRows), totalRows: isWhole ? rest.length : null };
}

/** Parses the first rows of a Parquet file.
 *  @throws Error if the file is damaged, or uses a compression other than Snappy */
export async function parquetTable(file: ArrayBuffer): Promise<TableContent> {
  const { parquetMetadata, parquetReadObjects, parquetSchema } = await import('hyparquet');
  const [start, end] = [file.slice(0, 4), file.slice(-4)].map((part) =>
    new TextDecoder().decode(part),
  );
  if (start !== 'PAR1' || end !== 'PAR1') throw new Error('This is not a complete Parquet file.');
  const metadata = parquetMetadata(file);
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
  const objects = await parquetReadObjects({ file, metadata, rowEnd: maxRows });
  return {
    columns,
    rows: objects.map((row) => columns.map((name) => cellText(row[name]))),
    totalRows: Number(metadata.num_rows),
  };
}

/** Formats a value from a Parquet file as text. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return value.toString();
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? inner.toString() : inner,
  );
}

/** Returns the separator that occurs most often in the first line. */
function separatorOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const count = (separator: string) => line.split(separator).length;
  return [',', '\t', ';'].toSorted((one, other) => count(other) - count(one))[0] ?? ',';
}

function separatedRows(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, isQuoted]: [string[], string, boolean] = [[], '', false];
  const endRow = () => {
    if (row.length > 0 || cell !== '') rows.push([...row, cell]);
    [row, cell] = [[], ''];
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[(at += 1)] ?? '';
      else isQuoted = false;
    } else if (char === '"' && cell === '') isQuoted = true;
    else if (char === separator) [row, cell] = [[...row, cell], ''];
    else if (char === '\n') endRow();
    else if (char !== '\r') cell += char;
  }
  endRow();
  return rows;
}
