/** Converts retention and trigger state between the wire format and the domain. */
import type { Retention as Setting } from '#domain/system/retention.ts';
import type { retentionSetting } from '#projections/retention/queries.ts';
import type { triggerState } from '#projections/trigger-state/queries.ts';
import type { Static } from 'typebox';
import type { RetentionChanges } from './schema.ts';

type Row = Awaited<ReturnType<typeof retentionSetting>>;

/** The retention periods, without the author of the last change. */
export function daysOf(setting: Row) {
  return {
    logs_days: setting?.logs_days ?? null,
    samples_days: setting?.samples_days ?? null,
    artifacts_days: setting?.artifacts_days ?? null,
    payloads_days: setting?.payloads_days ?? null,
  };
}

/** Converts a request body to a command's changes. */
export function changesOf(body: Static<typeof RetentionChanges>): Partial<Setting> {
  const { logs_days, samples_days, artifacts_days, payloads_days } = body;
  return {
    ...(logs_days !== undefined && { logsDays: logs_days }),
    ...(samples_days !== undefined && { samplesDays: samples_days }),
    ...(artifacts_days !== undefined && { artifactsDays: artifacts_days }),
    ...(payloads_days !== undefined && { payloadsDays: payloads_days }),
  };
}

export function retentionJson(setting: Row) {
  return {
    ...daysOf(setting),
    changed_at: setting?.changed_at ?? null,
    changed_by: setting?.changed_by ?? null,
  };
}

/** Whether triggers are paused, since when, and who made the last change. */
export function triggersJson(state: Awaited<ReturnType<typeof triggerState>>) {
  const {
    paused,
    since,
    changed_by: by,
  } = state ?? { paused: false, since: null, changed_by: null };
  return { paused, since, by };
}
