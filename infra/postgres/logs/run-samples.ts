/** Stores run samples in Postgres, with one row per chunk. */
import type { RunSamples, SampleChunk, SamplePoint } from '#domain/ports/run-samples.ts';
import type { Queryable } from '../database.ts';

const statements = {
  save: `
    WITH given AS (
      SELECT * FROM unnest($1::uuid[], $2::integer[], $3::text[]) AS chunk (run_id, place, points)
    ), shorter AS (
      DELETE FROM run_samples stored
      USING (SELECT run_id, max(place) AS last FROM given GROUP BY run_id) kept
      WHERE stored.run_id = kept.run_id AND stored.place > kept.last
    )
    INSERT INTO run_samples (run_id, place, points) SELECT run_id, place, points FROM given
    ON CONFLICT (run_id, place) DO UPDATE SET points = excluded.points`,
  read: `SELECT points FROM run_samples WHERE run_id = $1 ORDER BY place`,
};

/** A stored sample: its fields in a fixed order. */
type StoredPoint = readonly [number, number, number, number, number];

export class PostgresRunSamples implements RunSamples {
  readonly #db: Queryable;

  constructor(db: Queryable) {
    this.#db = db;
  }

  async save(chunks: readonly SampleChunk[]): Promise<void> {
    if (chunks.length === 0) return;
    await this.#db.query(statements.save, [
      chunks.map((chunk) => chunk.runId),
      chunks.map((chunk) => chunk.place),
      chunks.map((chunk) => JSON.stringify(chunk.points.map(storedPoint))),
    ]);
  }

  async read(runId: string): Promise<readonly SamplePoint[]> {
    const { rows } = await this.#db.query<{ points: string }>(statements.read, [runId]);
    return rows.flatMap((row) => (JSON.parse(row.points) as StoredPoint[]).map(pointOf));
  }
}

function storedPoint(point: SamplePoint): StoredPoint {
  const { timeMs, cpuSeconds, memoryBytes, threads, processes } = point;
  return [timeMs, cpuSeconds, memoryBytes, threads, processes];
}

function pointOf(stored: StoredPoint): SamplePoint {
  const [timeMs, cpuSeconds, memoryBytes, threads, processes] = stored;
  return { timeMs, cpuSeconds, memoryBytes, threads, processes };
}
