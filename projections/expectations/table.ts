import type { MissedExpectation } from '#domain/expectation/expectation.ts';
import type { Columns } from '../columns.ts';

/** The missed expectations of a script. There is no row for a script that has never missed an expectation. */
export interface MissedExpectationsTable {
  readonly script_id: string;
  readonly stream_version: number;
  /** The missed expectations, oldest first. */
  readonly missed: readonly MissedSince[];
}

export interface MissedSince extends MissedExpectation {
  /** In RFC 3339 format. */
  readonly since: string;
}

export const missedExpectationColumns: Columns<MissedExpectationsTable> = {
  script_id: 'uuid',
  stream_version: 'bigint',
  missed: 'jsonb',
};
