import { client, unwrap } from '#lib/api/client.ts';
import type { ErrorGroup, ErrorGroupChange, ErrorGroupStatus, Page, Run } from '#lib/api/types.ts';

/** The filters of the error list, as they appear in the URL. */
export interface ErrorGroupFilter {
  status?: ErrorGroupStatus;
  /** A search text that must occur in the error type or message. */
  q?: string;
}

/** Lists error groups, most recent occurrence first. */
export function listErrorGroups(
  filter: ErrorGroupFilter,
  cursor: string | null,
): Promise<Page<ErrorGroup>> {
  const query = { ...filter, limit: 50, ...(cursor ? { cursor } : {}) };
  return unwrap(client.GET('/api/v1/error-groups', { params: { query } }));
}

const groupParams = (id: string) => ({ path: { error_group_id: id } });

export function getErrorGroup(id: string): Promise<ErrorGroup> {
  return unwrap(client.GET('/api/v1/error-groups/{error_group_id}', { params: groupParams(id) }));
}

/** Lists the runs that failed with the group's error, newest first. */
export function listErrorGroupRuns(id: string, cursor: string | null): Promise<Page<Run>> {
  const query = { limit: 20, ...(cursor ? { cursor } : {}) };
  return unwrap(
    client.GET('/api/v1/error-groups/{error_group_id}/runs', {
      params: { ...groupParams(id), query },
    }),
  );
}

/** Resolves, ignores or reopens an error group. */
export function changeErrorGroup(id: string, body: ErrorGroupChange): Promise<ErrorGroup> {
  return unwrap(
    client.PATCH('/api/v1/error-groups/{error_group_id}', {
      params: groupParams(id),
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
}
