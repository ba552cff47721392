/** Lists runs with their triggers. */
import type { Principal } from '#domain/kernel/actor.ts';
import { parseErrorGroupId, parseGroupId, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { runStatuses, triggerTypes, type TriggerType } from '#domain/run/run.ts';
import type { RunListFilter } from '#projections/runs/list-filter.ts';
import { listRuns } from '#projections/runs/lists.ts';
import {
  listSortedRuns,
  parseSortedPlace,
  sortedPlaceText,
  type RunOrder,
} from '#projections/runs/sorted.ts';
import { visibleGroups } from '../access/visibility.ts';
import { defaultLimit, keyOf, pageOf } from '../http/paging.ts';
import { isProblem } from '../http/problem.ts';
import type { Answer } from '../http/reply.ts';
import { idOf, wordsOf } from '../http/selection.ts';
import type { Services } from '../services.ts';
import { runsJson } from './view.ts';

/** Filters in the format of `http/selection.ts`. */
export interface RunQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly script_id?: string;
  readonly group_id?: string;
  readonly status?: string;
  readonly trigger?: string;
  /** An alias of `trigger`. Both parameters filter the list. */
  readonly trigger_type?: string;
  readonly from?: string;
  readonly to?: string;
  readonly error_group_id?: string;
  readonly q?: string;
  readonly sort?: RunOrder;
}

export interface RunListCall {
  readonly principal: Principal;
  readonly url: string;
  readonly query: RunQuery;
}

/** A page of a list of runs.
 *  @param list the list's name; a cursor is valid only for the list that created it */
export async function runPage(
  list: string,
  { principal, url, query }: RunListCall,
  services: Services,
): Promise<Answer> {
  const { limit, cursor, ...wanted } = query;
  const visible = visibleGroups(principal);
  const request = { list, filter: { visible, wanted }, url, limit, cursor };
  const size = limit ?? defaultLimit;
  const { sort, ...conditions } = wanted;
  const filter = filterOf(conditions, visible);
  if (sort !== undefined) {
    const place = keyOf(request, parseSortedPlace);
    if (isProblem(place)) return place;
    const page = { after: place.key, limit: size };
    const { rows, next } = await listSortedRuns(services.readModels, filter, sort, page);
    return pageOf(request, await runsJson(rows, services), next && sortedPlaceText(next));
  }
  const after = keyOf(request, parseRunId);
  if (isProblem(after)) return after;
  const rows = await listRuns(services.readModels, filter, after.key, size + 1);
  const items = rows.slice(0, size);
  const next = rows.length > size ? (items.at(-1)?.run_id ?? null) : null;
  return pageOf(request, await runsJson(items, services), next);
}

function filterOf(
  wanted: Omit<RunQuery, 'limit' | 'cursor' | 'sort'>,
  visible: RunListFilter['groupIds'],
): RunListFilter {
  const { script_id, group_id, status, trigger, trigger_type, from, to, error_group_id, q } =
    wanted;
  const errorGroupId = error_group_id === undefined ? undefined : parseErrorGroupId(error_group_id);
  const causes = [trigger, trigger_type].flatMap((one) =>
    one === undefined ? [] : [new Set<TriggerType>(wordsOf(one, triggerTypes))],
  );
  const script = idOf(script_id, parseScriptId);
  const group = idOf(group_id, parseGroupId);
  const { id: groupId } = group;
  return {
    groupIds:
      groupId === undefined ? visible : (visible ?? [groupId]).filter((one) => one === groupId),
    ...(group.notId !== undefined && { notGroupId: group.notId }),
    ...(script.id !== undefined && { scriptId: script.id }),
    ...(script.notId !== undefined && { notScriptId: script.notId }),
    ...(status !== undefined && { statuses: wordsOf(status, runStatuses) }),
    ...(causes.length > 0 && {
      triggerTypes: triggerTypes.filter((one) => causes.every((wanted) => wanted.has(one))),
    }),
    ...(from !== undefined && { from: new Date(from) }),
    ...(to !== undefined && { to: new Date(to) }),
    ...(errorGroupId !== undefined && { errorGroupId }),
    ...(q !== undefined && { text: q }),
  };
}
