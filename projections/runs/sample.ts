/** Selects finished runs that are evenly distributed over a time range, for a chart of single runs. */
import { deriveTimeOrderedId, type GroupId } from '#domain/kernel/ids.ts';
import type { RunStatus } from '#domain/run/run.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

export interface RunPoint {
  readonly run_id: string;
  readonly script_name: string;
  readonly status: RunStatus;
  readonly queued_at: Date;
  readonly duration_ms: number;
}

const slices = 60;
/** The maximum number of runs per time slice, counted overall and per group. */
const runsPerSlice = 6;
/** The number of latest runs that are added overall and per group. All runs of the range may be in a single slice. */
const latestRuns = 150;
const zeroId = '00000000-0000-7000-8000-000000000000';

/** Each slice reads only the end of one index range. The cost therefore does not depend on the number of runs. */
const read = (ofGroup: string) =>
  statement<RunPoint>(`
    SELECT DISTINCT sampled.*
    FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) AS slice (first, behind, most)
      CROSS JOIN unnest($4::uuid[]) AS own (group_id) CROSS JOIN LATERAL (
        SELECT run_id, script_name, status, queued_at, duration_ms FROM runs
        WHERE run_id >= first AND run_id < behind AND duration_ms IS NOT NULL ${ofGroup}
        ORDER BY run_id DESC LIMIT most
      ) sampled
    ORDER BY run_id`);
const readAll = read('');
const readGroups = read('AND runs.group_id = own.group_id');

/** Returns runs that were queued in the range and have ended, oldest first.
 *  @param groupIds the groups to include. `null` means all groups. */
export async function sampleRuns(
  db: ReadModels,
  groupIds: readonly GroupId[] | null,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<readonly RunPoint[]> {
  const stepMs = (to.getTime() - from.getTime()) / slices;
  const bounds = Array.from({ length: slices + 1 }, (_, index) =>
    deriveTimeOrderedId(zeroId, new Date(from.getTime() + Math.round(index * stepMs))),
  );
  const [begin, end] = [bounds[0], bounds.at(-1)];
  const first = [begin, ...bounds.slice(0, -1)];
  const behind = [end, ...bounds.slice(1)];
  const most = [latestRuns, ...Array.from({ length: slices }, () => runsPerSlice)];
  return groupIds === null
    ? await readAll(db, first, behind, most, [zeroId])
    : await readGroups(db, first, behind, most, groupIds);
}
