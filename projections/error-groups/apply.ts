import type { Recorded } from '#domain/aggregates.ts';
import type { ErrorGroupEvent } from '#domain/error-group/events.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { errorGroupStateColumns, type ErrorGroupStatesTable } from './table.ts';

/** Builds the state of each error group from users' decisions. */
export const errorGroupStatesProjection: Projection = rowProjection<
  ErrorGroupStatesTable,
  Recorded<ErrorGroupEvent>
>({
  name: 'error_group_states',
  version: 1,
  table: 'error_group_states',
  key: 'error_group_id',
  columns: errorGroupStateColumns,
  handles: ['ErrorGroupResolved', 'ErrorGroupIgnored', 'ErrorGroupReopened'],
  keyOf: (event) => event.data.errorGroupId,
  step: (_row, event) => {
    const { errorGroupId: error_group_id } = event.data;
    const row = { error_group_id, resolved_in_version: null, ignored_until: null };
    const changed_at = event.recordedAt;
    switch (event.type) {
      case 'ErrorGroupResolved':
        return { ...row, status: 'resolved', resolved_in_version: event.data.version, changed_at };
      case 'ErrorGroupIgnored': {
        const { until } = event.data;
        const ignored_until = until === null ? null : new Date(until);
        return { ...row, status: 'ignored', ignored_until, changed_at };
      }
      case 'ErrorGroupReopened':
        return { ...row, status: 'open', changed_at };
    }
  },
});
