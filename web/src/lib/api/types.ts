import type { components, operations } from './schema.d.ts';

type Schemas = components['schemas'];

export type Script = Schemas['Script'];

export type Run = Schemas['Run'];
export type RunStatus = Run['status'];
export type TriggerType = Run['trigger_type'];
export type FailureReason = NonNullable<Run['failure_reason']>;
export type RunSample = Schemas['RunSample'];
export type LogLine = Schemas['LogLine'];
export type LogStream = LogLine['stream'];
export type FileEntry = Schemas['FileEntry'];
/** One frame of `/ws`, as JSON text. */
export type FeedFrame = Schemas['FeedFrame'];
export type DashboardStats = Schemas['DashboardStats'];
export type Timeseries = Schemas['Timeseries'];
type TimeseriesQuery = NonNullable<operations['dashboardTimeseries']['parameters']['query']>;
export type MetricName = NonNullable<TimeseriesQuery['metric']>;
export type TimeseriesBucket = NonNullable<TimeseriesQuery['bucket']>;
export type Schedule = Schemas['Schedule'];
export type NewSchedule = Schemas['NewSchedule'];
export type ScheduleChanges = Schemas['ScheduleChanges'];
export type ScheduleTiming = Omit<Schemas['SchedulePreviewRequest'], 'count'>;
export type DueTime = Schemas['DueTime'];
export type Occurrence = Schemas['Occurrence'];
export type Webhook = Schemas['Webhook'];
export type ShownWebhook = Schemas['ShownWebhook'];
export type WebhookChange = Schemas['WebhookChange'];
export type HookAnswer = Schemas['HookAnswer'];
export type Secret = Schemas['Secret'];
export type SystemInfo = Schemas['SystemInfo'];
export type Group = Schemas['Group'];
export type Me = Schemas['Me'];
export type Problem = Schemas['Problem'];

/** One page of a list; `next_cursor` is null on the last page. */
export interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}
