import type { LogLine } from '#lib/api/types.ts';

/** The number of lines per chunk, which is the maximum page size of the log endpoint. */
export const chunkLines = 200;

/** A row of the log viewer. `line` is undefined until its chunk is loaded. */
export interface LogRow {
  seq: number;
  line: LogLine | undefined;
}

interface Hole {
  from: number;
  to: number;
}

/** Keeps part of a run's log in memory, as chunks of lines. The least recently used chunks are evicted first, so a long
 *  log needs no more memory than a short one. Line numbers start at 1. Row numbers start at 0 and skip truncated
 *  lines. */
export class LogWindow {
  readonly #maxChunks: number;
  readonly #chunks = new Map<number, (LogLine | undefined)[]>();
  #holes: Hole[] = [];
  #lastSeq = 0;

  constructor(maxChunks = 100) {
    this.#maxChunks = maxChunks;
  }

  /** The highest line number seen. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get rowCount(): number {
    return this.#holes.reduce((rows, hole) => rows - (hole.to - hole.from + 1), this.#lastSeq);
  }

  /** Adds lines in any order. Existing lines with the same numbers are replaced. */
  put(lines: readonly LogLine[]): void {
    for (const line of lines) {
      this.#chunkOf(line.seq)[(line.seq - 1) % chunkLines] = line;
      this.#lastSeq = Math.max(this.#lastSeq, line.seq);
      if (line.from_seq !== undefined && line.to_seq !== undefined) this.#noteTruncation(line);
    }
    this.#dropOldest();
  }

  /** Adds the response to a request for the lines from `fromSeq` on. Line numbers missing from the response do not
   *  exist. */
  putPage(fromSeq: number, lines: readonly LogLine[]): void {
    let expected = fromSeq;
    for (const line of lines) {
      if (line.seq > expected) this.#addHole({ from: expected, to: line.seq - 1 });
      expected = line.seq + 1;
    }
    this.put(lines);
  }

  /** Returns at most `count` rows, starting at row `first`. */
  rows(first: number, count: number): LogRow[] {
    const rows: LogRow[] = [];
    let seq = this.seqAt(first);
    while (rows.length < count && seq <= this.#lastSeq) {
      rows.push({ seq, line: this.#lineAt(seq) });
      seq = this.#skipHole(seq + 1);
    }
    return rows;
  }

  /** Returns the first line number of each chunk that must be loaded to show these rows. */
  missing(first: number, count: number): number[] {
    const starts = new Set<number>();
    for (const row of this.rows(first, count)) {
      if (!row.line) starts.add(row.seq - ((row.seq - 1) % chunkLines));
    }
    return [...starts];
  }

  /** Returns the line number shown in `row`. */
  seqAt(row: number): number {
    let seq = row + 1;
    for (const hole of this.#holes) {
      if (hole.from > seq) break;
      seq += hole.to - hole.from + 1;
    }
    return seq;
  }

  /** Returns the row of line `seq`. For a truncated line, returns the row before the gap. */
  rowOf(seq: number): number {
    let row = seq - 1;
    for (const hole of this.#holes) {
      if (hole.from > seq) break;
      row -= Math.min(hole.to, seq) - hole.from + 1;
    }
    return Math.max(0, row);
  }

  #lineAt(seq: number): LogLine | undefined {
    return this.#chunks.get(Math.floor((seq - 1) / chunkLines))?.[(seq - 1) % chunkLines];
  }

  #chunkOf(seq: number): (LogLine | undefined)[] {
    const index = Math.floor((seq - 1) / chunkLines);
    const chunk = this.#chunks.get(index) ?? [];
    // A Map preserves insertion order, so re-inserting the chunk makes it the most recently used.
    this.#chunks.delete(index);
    this.#chunks.set(index, chunk);
    return chunk;
  }

  #dropOldest(): void {
    for (const index of this.#chunks.keys()) {
      if (this.#chunks.size <= this.#maxChunks) return;
      this.#chunks.delete(index);
    }
  }

  /** Records the line that stands for the truncated middle of the log. This line has its own row. */
  #noteTruncation(line: LogLine): void {
    const from = line.from_seq === line.seq ? line.seq + 1 : (line.from_seq ?? line.seq);
    const to = line.to_seq === line.seq ? line.seq - 1 : (line.to_seq ?? line.seq);
    this.#addHole({ from, to });
  }

  #addHole(hole: Hole): void {
    if (hole.from > hole.to) return;
    const merged: Hole[] = [];
    for (const next of [...this.#holes, hole].sort((a, b) => a.from - b.from)) {
      const last = merged.at(-1);
      if (last && next.from <= last.to + 1) last.to = Math.max(last.to, next.to);
      else merged.push({ ...next });
    }
    this.#holes = merged;
  }

  #skipHole(seq: number): number {
    const hole = this.#holes.find(({ from, to }) => from <= seq && seq <= to);
    return hole ? hole.to + 1 : seq;
  }
}
