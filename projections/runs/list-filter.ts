/** Defines filters for lists of runs, and converts them to conditions on the table `runs`. */
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
  /** Includes only runs in these groups. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  /** Excludes runs in this group. */
  readonly notGroupId?: GroupId;
  /** Includes only runs of this script. The script must be in one of the groups. A deleted script must have been in
   *  one of them when it was deleted. */
  readonly scriptId?: ScriptId;
  /** Excludes runs of this script. */
  readonly notScriptId?: ScriptId;
  /** Includes only runs with one of these statuses. */
  readonly statuses?: readonly RunStatus[];
  /** Includes only runs with one of these triggers. */
  readonly triggerTypes?: readonly TriggerType[];
  /** Includes only runs that were queued at or after this time and before `to`. The time is taken from the run ID. */
  readonly from?: Date;
  readonly to?: Date;
  /** Includes only runs that failed with this error. */
  readonly errorGroupId?: ErrorGroupId;
  /** Text that must occur in the current script name or in the error, ignoring case. The start of a run ID also
   *  matches. */
  readonly text?: string;
}

const noId = '00000000-0000-0000-0000-000000000000';
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Returns the condition on `run_id` for the time range of the filter and for runs after `after`. */
export function rangeOf(
  { from, to }: RunListFilter,
  after: RunId | undefined,
): RawBuilder<boolean> {
  const first = from === undefined ? noId : firstIdOf(from);
  const end = to === undefined ? lastId : firstIdOf(to);
  const before = after === undefined || after > end ? end : after;
  return sql`run_id >= ${first}::uuid AND run_id < ${before}::uuid`;
}

/** Returns the lowest ID whose timestamp is the given time in milliseconds. */
function firstIdOf(time: Date): string {
  return deriveTimeOrderedId(noId, new Date(Math.max(0, time.getTime())));
}

/** Text with fewer than eight digits would match too many IDs. */
const idPrefix = /^[\da-f]{8}[\da-f-]{0,28}$/i;

/** Returns the condition that `run_id` starts with the text, or `undefined` if no ID can start with it. */
export function idStartsWith(text: string): RawBuilder<boolean> | undefined {
  const digits = text.replaceAll('-', '');
  if (!idPrefix.test(text) || digits.length > 32) return undefined;
  return sql`run_id >= ${digits.padEnd(32, '0')}::uuid AND run_id <= ${digits.padEnd(32, 'f')}::uuid`;
}

/** Returns the conditions of a filter, except for its text and its error group. */
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
