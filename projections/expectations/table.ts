import type { MissedExpectation } from '#domain/expectation/expectation.ts';
import type { Columns } from '../columns.ts';

/** The missed expectations of a script. A script that never missed an expectation has no row. */
export interface MissedExpectationsTable {
  readonly script_id: string;
  readonly stream_version: number;
  /** Oldest first. */
  readonly missed: readonly MissedSince[];
}

export interface MissedSince extends MissedExpectation {
  /** RFC 3339. */
  readonly since: string;
}

export const missedExpectationColumns: Columns<MissedExpectationsTable> = {
  script_id: 'uuid',
  stream_version: 'bigint',
  missed: 'jsonb',
};
