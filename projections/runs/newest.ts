/** The latest runs of a script, in SQL: for queries that have a script in each of their rows. */
export interface NewestRuns {
  /** What is asked of them, of the table `r`. */
  readonly columns: string;
  /** The script's id: a column of the query around this. */
  readonly of: string;
  /** Only those. */
  readonly where?: string;
  readonly limit: number;
}

/** A query that looks at one range of an index, however many runs there are, of this script or of others.
 *
 *  Only one index has its order. By the order of the keys alone all runs might be gone through for a script
 *  that has none: where few scripts have all of them, the planner expects to come across one soon. An
 *  equality would make both orders the same. */
export function newestRuns({ columns, of, where, limit }: NewestRuns): string {
  return `SELECT ${columns} FROM runs r
    WHERE r.script_id = ANY(ARRAY[${of}]) ${where === undefined ? '' : `AND ${where}`}
    ORDER BY r.script_id, r.run_id DESC LIMIT ${limit}`;
}
