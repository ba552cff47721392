/** The latest runs of a script, in SQL, for queries with one script per row. */
export interface NewestRuns {
  /** The selected columns of the table `r`. */
  readonly columns: string;
  /** The script's ID: a column of the outer query. */
  readonly of: string;
  /** An additional condition. */
  readonly where?: string;
  readonly limit: number;
}

/** Reads one range of an index, regardless of how many runs this script or others have. Only one index has this
 *  order. Ordered by key alone, Postgres might scan all runs for a script without runs: if few scripts have most of
 *  the runs, the planner expects to find a match soon. An equality condition would make both orders equivalent. */
export function newestRuns({ columns, of, where, limit }: NewestRuns): string {
  return `SELECT ${columns} FROM runs r
    WHERE r.script_id = ANY(ARRAY[${of}]) ${where === undefined ? '' : `AND ${where}`}
    ORDER BY r.script_id, r.run_id DESC LIMIT ${limit}`;
}
