import type { Recorded } from '#domain/aggregates.ts';
import type { ExpectationEvent } from '#domain/expectation/events.ts';
import { missedKey } from '#domain/expectation/expectation.ts';
import type { Projection } from '../projection.ts';
import { rowProjection } from '../rows.ts';
import { missedExpectationColumns, type MissedExpectationsTable } from './table.ts';

/** Builds the missed expectations of each script. */
export const missedExpectationsProjection: Projection = rowProjection<
  MissedExpectationsTable,
  Recorded<ExpectationEvent>
>({
  name: 'missed_expectations',
  version: 1,
  table: 'missed_expectations',
  key: 'script_id',
  columns: missedExpectationColumns,
  handles: ['ExpectationMissed', 'ExpectationCleared'],
  keyOf: (event) => event.data.scriptId,
  step: (row, { type, data, recordedAt }) => {
    const others = (row?.missed ?? []).filter((one) => missedKey(one) !== missedKey(data));
    const { scriptId: script_id } = data;
    switch (type) {
      case 'ExpectationMissed': {
        const { on, key, runId, detail } = data;
        const since = recordedAt.toISOString();
        return { script_id, missed: [...others, { on, key, runId, detail, since }] };
      }
      case 'ExpectationCleared':
        return { script_id, missed: others };
    }
  },
});
