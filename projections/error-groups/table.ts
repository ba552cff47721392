import type { ErrorGroupStatus } from '#domain/error-group/error-group.ts';
import type { Columns } from '../columns.ts';

/** Users' decisions about error groups. A group without a decision has no row. */
export interface ErrorGroupStatesTable {
  readonly error_group_id: string;
  readonly stream_version: number;
  readonly status: ErrorGroupStatus;
  readonly resolved_in_version: number | null;
  readonly ignored_until: Date | null;
  readonly changed_at: Date;
}

export const errorGroupStateColumns: Columns<ErrorGroupStatesTable> = {
  error_group_id: 'uuid',
  stream_version: 'bigint',
  status: 'text',
  resolved_in_version: 'integer',
  ignored_until: 'timestamptz',
  changed_at: 'timestamptz',
};
