/** Builds SQL for the latest runs of a script, for queries that have one script per row. */
export interface NewestRuns {
  /** The columns to select from the runs, whose table has the alias `r`. */
  readonly columns: string;
  /** The column of the outer query that contains the script ID. */
  readonly of: string;
  /** An additional condition on the runs. */
  readonly where?: string;
  readonly limit: number;
}

/** Returns a subquery that reads one range of an index. Its cost does not depend on the number of runs of this or
 *  other scripts. Only one index has the order of this subquery. If the subquery were ordered only by run ID,
 *  Postgres might scan all runs to find runs of a script that has none. This happens if a few scripts have most of
 *  the runs, because the planner then expects an early match. With an equality condition on the script, both orders
 *  would be equivalent for the planner. */
export function newestRuns({ columns, of, where, limit }: NewestRuns): string {
  return `SELECT ${columns} FROM runs r
    WHERE r.script_id = ANY(ARRAY[${of}]) ${where === undefined ? '' : `AND ${where}`}
    ORDER BY r.script_id, r.run_id DESC LIMIT ${limit}`;
}
