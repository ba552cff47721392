import { describe, expect, test } from 'vitest';
import { indented } from './indented.ts';
import { artifactKind } from './kinds.ts';
import { notebookPage } from './notebook.ts';
import { csvTable, parquetTable } from './tables.ts';

/** A Parquet file with three rows of a text, an integer and a time, compressed with Snappy. */
const parquet =
  'UEFSMRUEFSAVJEwVBBUAEgAAEDwEAAAAQmVybgQAAABSb21lFQAVEhUWLBUGFRAVBhUGHAAAAAkgAgAAAAMDAQMCFQQVMBUuTBUGFQASAAAYBAEACQE8AgAAAAAAAAADAAAAAAAAABUAFRQVGCwVBhUQFQYVBhwAAAAKJAIAAAAGAQIDJAAVBBUQFRRMFQIVABIAAAgcANyxppwBAAAVABUSFRYsFQYVEBUGFQYcAAAACSACAAAAAwEBAgAVBBlMNQAYBnNjaGVtYRUGABUMJQIYBGNpdHklAEwcAAAAFQQlAhgBbgAVBCUCGAJhdCUSTIwSHBwAAAAAABYGGRwZPCYAHBUMGTUABhAZGARjaXR5FQIWBhZ0FnwmSCYIKSwVBBUAFQIAFQAVEBUCADwWEBkGGSYCBAAAACYAHBUEGTUABhAZGAFuFQIWBhaGARaIASbOASaEASksFQQVABUCABUAFRAVAgA8KQYZJgAGAAAAJgAcFQQZNQAGEBkYAmF0FQIWBhZkFmwmvAImjAIpLBUEFQAVAgAVABUQFQIAPCkGGSYEAgAAABbeAhYGJggW8AIAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRk8HAAAHAAAHAAAACUBAABQQVIx';

test('the kind of an artifact depends on its file name', () => {
  const kinds = [
    'a/plot.PNG',
    'rows.csv',
    'rows.parquet',
    'x.ipynb',
    'README.md',
    'a.py',
    'LICENSE',
  ];
  expect(kinds.map(artifactKind)).toEqual([
    'image',
    'table',
    'parquet',
    'notebook',
    'markdown',
    'text',
    'text',
  ]);
});

describe('a table from CSV', () => {
  test('accepts quoted cells that contain separators, quotes and line feeds', () => {
    const { columns, rows, totalRows } = csvTable('a,b\r\n"x, y","say ""hi"""\r\n"1\n2",\n', true);
    expect(columns).toEqual(['a', 'b']);
    expect(rows).toEqual([
      ['x, y', 'say "hi"'],
      ['1\n2', ''],
    ]);
    expect(totalRows).toBe(2);
  });

  test('detects the separator', () => {
    expect(csvTable('a;b\n1,5;2\n', true).rows).toEqual([['1,5', '2']]);
    expect(csvTable('a\tb\n1\t2', true).rows).toEqual([['1', '2']]);
  });

  test('omits the incomplete last row of a truncated file', () => {
    expect(csvTable('a\n1\n2\n3', false)).toEqual({
      columns: ['a'],
      rows: [['1'], ['2']],
      totalRows: null,
    });
    expect(csvTable('', true)).toEqual({ columns: [], rows: [], totalRows: 0 });
  });
});

test('JSON on a single line is indented, and its numbers keep their digits', () => {
  const text = '{"id":12345678901234567890,"price":1.50}';
  const shown = '{\n  "id": 12345678901234567890,\n  "price": 1.50\n}';
  expect(indented('a.json', text)).toBe(shown);
  expect([indented('a.json', '{x'), indented('a.txt', text)]).toEqual(['{x', text]);
});

test('a truncated Parquet file is refused', async () => {
  const file = Uint8Array.from(atob(parquet), (char) => char.charCodeAt(0));
  await expect(parquetTable(file.slice(0, -1).buffer)).rejects.toThrow(
    'not a complete Parquet file',
  );
});

test('a table from Parquet contains text, integers and times', async () => {
  const file = Uint8Array.from(atob(parquet), (char) => char.charCodeAt(0));
  expect(await parquetTable(file.buffer)).toEqual({
    columns: ['city', 'n', 'at'],
    rows: [
      ['Bern', '1', '2026-03-01T00:00:00.000Z'],
      ['Rome', '2', ''],
      ['', '3', ''],
    ],
    totalRows: 3,
  });
});

describe('a notebook', () => {
  test('is rendered as a page with its cells and outputs', () => {
    const page = notebookPage(
      JSON.stringify({
        cells: [
          { cell_type: 'markdown', source: ['# Title\n', 'text'] },
          {
            cell_type: 'code',
            source: 'print("<b>")',
            outputs: [
              { output_type: 'stream', text: ['\u001B[31m<b>\u001B[0m\n'] },
              {
                output_type: 'display_data',
                data: { 'image/png': 'AAAA"><i>', 'text/plain': 'x' },
              },
              { output_type: 'error', ename: 'ValueError', evalue: 'no' },
            ],
          },
        ],
      }),
      false,
    );
    expect(page).toContain('<h1>Title</h1>');
    expect(page).toContain('<pre class="code">print(&quot;&lt;b>&quot;)</pre>');
    expect(page).toContain('<pre>&lt;b>\n</pre>');
    expect(page).toContain('<img alt="Output" src="data:image/png;base64,AAAAi">');
    expect(page).toContain('<pre class="error">ValueError: no</pre>');
  });

  test('is refused without cells', () => {
    expect(() => notebookPage('{}', false)).toThrow('not a notebook');
  });
});
