/** Stores the spans that scripts record, in Postgres. */
import type { Queryable } from '../database.ts';

const statements = {
  // Finished spans never change.
  save: `
    INSERT INTO run_spans (run_id, span_id, parent_id, name, started_at, ended_at, failed, attributes)
    SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[],
      $7::boolean[], $8::text[])
    ON CONFLICT (run_id, span_id) DO UPDATE SET ended_at = excluded.ended_at, failed = excluded.failed,
      attributes = excluded.attributes, revision = nextval('run_span_revisions')
    WHERE run_spans.ended_at IS NULL`,
  read: `SELECT run_id, span_id, parent_id, name, started_at, ended_at, failed, attributes, revision
    FROM run_spans JOIN unnest($1::uuid[], $2::bigint[]) AS wanted (run_id, seen) USING (run_id)
    WHERE revision > coalesce(seen, 0) ORDER BY started_at, revision`,
};

export type SpanValue = string | number | boolean | null;

export interface ScriptSpan {
  /** The ID of the span, 16 hexadecimal digits. */
  readonly spanId: string;
  /** Null for a span that has no parent in the script. */
  readonly parentId: string | null;
  readonly name: string;
  readonly startedAt: Date;
  /** Null while the span is active. */
  readonly endedAt: Date | null;
  /** Whether the span failed with an exception. */
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, SpanValue>>;
}

export interface StoredSpan extends ScriptSpan {
  readonly runId: string;
  /** Increases whenever any span is created or updated. */
  readonly revision: number;
}

/** Stores new spans and the end times of active spans. The IDs must be distinct. */
export async function saveSpans(
  db: Queryable,
  runId: string,
  spans: readonly ScriptSpan[],
): Promise<void> {
  await db.query(statements.save, [
    runId,
    spans.map((span) => span.spanId),
    spans.map((span) => span.parentId),
    spans.map((span) => span.name),
    spans.map((span) => span.startedAt),
    spans.map((span) => span.endedAt),
    spans.map((span) => span.failed),
    spans.map((span) => JSON.stringify(span.attributes)),
  ]);
}

interface Row {
  readonly run_id: string;
  readonly span_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly failed: boolean;
  readonly attributes: string;
  readonly revision: string | number;
}

/** Returns the spans of runs, ordered by their start times.
 *  @param after a revision for each run. Only spans with later revisions are returned */
export async function readSpans(
  db: Queryable,
  runIds: readonly string[],
  after: readonly number[] = [],
): Promise<readonly StoredSpan[]> {
  const { rows } = await db.query<Row>(statements.read, [runIds, after]);
  return rows.map((row) => ({
    runId: row.run_id,
    spanId: row.span_id,
    parentId: row.parent_id,
    name: row.name,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    failed: row.failed,
    attributes: JSON.parse(row.attributes) as StoredSpan['attributes'],
    revision: Number(row.revision),
  }));
}
