/** Filters of lists of runs, and their conditions on the rows of `runs`. */
import {
  deriveTimeOrderedId,
  type ErrorGroupId,
  type GroupId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import type { RunStatus, TriggerType } from '#domain/run/run.ts';
import { sql, type RawBuilder } from 'kysely';

export interface RunListFilter {
  /** The groups to include; `null` for all. */
  readonly groupIds: readonly GroupId[] | null;
  /** Excludes this group. */
  readonly notGroupId?: GroupId;
  /** Only runs of this script. It must be in one of the groups, or must have been in one when it was deleted. */
  readonly scriptId?: ScriptId;
  /** Excludes this script. */
  readonly notScriptId?: ScriptId;
  /** Status is one of these. */
  readonly statuses?: readonly RunStatus[];
  /** Trigger is one of these. */
  readonly triggerTypes?: readonly TriggerType[];
  /** Queued at or after this time, and before `to`, according to the run ID. */
  readonly from?: Date;
  readonly to?: Date;
  /** Only runs that failed with this error. */
  readonly errorGroupId?: ErrorGroupId;
  /** Part of the script's current name or of the error, ignoring case, or the start of the run ID. */
  readonly text?: string;
}

const noId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The condition on `run_id`: the time range of the filter, and only runs after `after`. */
export function rangeOf(
  { from, to }: RunListFilter,
  after: RunId | undefined,
): RawBuilder<boolean> {
  const first = from === undefined ? noId : firstIdOf(from);
  const end = to === undefined ? lastId : firstIdOf(to);
  const before = after === undefined || after > end ? end : after;
  return sql`run_id >= ${first}::uuid AND run_id < ${before}::uuid`;
}

/** The lowest ID with the timestamp of a time, in milliseconds since 1970. */
function firstIdOf(time: Date): string {
  return deriveTimeOrderedId(noId, new Date(Math.max(0, time.getTime())));
}

/** Shorter text occurs in too many IDs. */
const idPrefix = /^[\da-f]{8}[\da-f-]{0,28}$/i;

/** The condition that `run_id` starts with this text; `undefined` if no ID can start with the text. */
export function idStartsWith(text: string): RawBuilder<boolean> | undefined {
  const digits = text.replaceAll('-', '');
  if (!idPrefix.test(text) || digits.length > 32) return undefined;
  return sql`run_id >= ${digits.padEnd(32, '0')}::uuid AND run_id <= ${digits.padEnd(32, 'f')}::uuid`;
}

/** The conditions of a filter apart from its text and its error group. */
export function filterConditions(
  filter: RunListFilter,
  after: RunId | undefined,
): RawBuilder<boolean> {
  const { groupIds, notGroupId, scriptId, notScriptId, statuses, triggerTypes } = filter;
  const conditions = [
    rangeOf(filter, after),
    ...(groupIds === null ? [] : [sql`runs.group_id = ANY(${groupIds}::uuid[])`]),
    ...(notGroupId === undefined ? [] : [sql`runs.group_id <> ${notGroupId}::uuid`]),
    ...(scriptId === undefined ? [] : [sql`runs.script_id = ${scriptId}::uuid`]),
    ...(notScriptId === undefined ? [] : [sql`runs.script_id <> ${notScriptId}::uuid`]),
    ...(statuses === undefined ? [] : [sql`runs.status = ANY(${statuses}::text[])`]),
    ...(triggerTypes === undefined ? [] : [sql`runs.trigger_type = ANY(${triggerTypes}::text[])`]),
  ];
  return sql`${sql.join(conditions, sql` AND `)}`;
}
