import { client, unwrap, unwrapWithEtag } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { components } from '#lib/api/schema.d.ts';
import type {
  SchedulePreview,
  NewSchedule,
  Occurrence,
  Page,
  Schedule,
  ScheduleChanges,
  ScheduleTiming,
} from '#lib/api/types.ts';

/** A schedule with the `ETag` that the next update needs. */
export interface VersionedSchedule {
  schedule: Schedule;
  etag: string | null;
}

/** Lists the schedules of one script, or all visible schedules if `scriptId` is null. */
export function listSchedules(
  scriptId: string | null,
  cursor: string | null,
): Promise<Page<Schedule>> {
  const query = { ...(scriptId && { script_id: scriptId }), ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/schedules', { params: { query } }));
}

type BackfillRequest = components['schemas']['BackfillRequest'];
export type Backfill = components['schemas']['Backfill'];

export async function getSchedule(id: string): Promise<VersionedSchedule> {
  const params = { path: { schedule_id: id } };
  return versioned(client.GET('/api/v1/schedules/{schedule_id}', { params }));
}

export function createSchedule(body: NewSchedule): Promise<Schedule> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/schedules', { params, body }));
}

/** @throws ApiError 412 if the schedule has changed since the version in `etag` */
export function patchSchedule(
  id: string,
  body: ScheduleChanges,
  etag: string | null,
): Promise<VersionedSchedule> {
  const params = { path: { schedule_id: id }, header: etag ? { 'If-Match': etag } : {} };
  return versioned(
    client.PATCH('/api/v1/schedules/{schedule_id}', {
      params,
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
}

export async function deleteSchedule(id: string): Promise<void> {
  const params = { path: { schedule_id: id } };
  await unwrap(client.DELETE('/api/v1/schedules/{schedule_id}', { params }));
}

/** Returns the next due times of a schedule.
 *  @param from the start time, which may be in the past; null selects the current time
 *  @throws ApiError 422 that names the invalid field */
export function previewSchedule(
  timing: ScheduleTiming,
  count: number,
  from: string | null,
  of: { script_id?: string; schedule_id?: string },
): Promise<SchedulePreview> {
  const body = { ...timing, ...of, count, from };
  return unwrap(client.POST('/api/v1/schedules/preview', { body }));
}

/** Starts runs for past due times that have not started a run. With `dry_run`, only lists these due times. */
export function backfillSchedule(id: string, body: BackfillRequest): Promise<Backfill> {
  const params = { path: { schedule_id: id }, header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/schedules/{schedule_id}/backfill', { params, body }));
}

/** Returns the due times of a schedule and their outcomes, newest first. */
export function listOccurrences(id: string, cursor: string | null): Promise<Page<Occurrence>> {
  const params = { path: { schedule_id: id }, query: cursor ? { cursor } : {} };
  return unwrap(client.GET('/api/v1/schedules/{schedule_id}/occurrences', { params }));
}

async function versioned(
  call: Promise<{ data?: Schedule; response: Response }>,
): Promise<VersionedSchedule> {
  const { data, etag } = await unwrapWithEtag(call);
  return { schedule: data, etag };
}
