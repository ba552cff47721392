/** Shared parts of the tools' inputs and outputs. */
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import type { ApiCall } from '#services/shared/api-client.ts';
import { picked, type ToolUse } from '../tool.ts';

export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
const MaybeText = Nullable(Type.String());
const MaybeNumber = Nullable(Type.Number());

export const ScriptId = Type.String({ description: 'From find_scripts.' });
export const RunId = Type.String({ description: 'From run_script or list_runs.' });
export const At = Type.Optional(
  Type.String({
    description: 'A point in time: an RFC 3339 time, or a position in the event history.',
  }),
);
/** The default page size of lists with large items. */
export const defaultItems = 20;
export const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 200 }));
export const Cursor = Type.Optional(
  Type.String({ description: '`next_cursor` of the previous page.' }),
);
export const NextCursor = MaybeText;

export const Script = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  group: Type.String(),
  enabled: Type.Boolean(),
  entrypoint: Type.String(),
  version: Type.Integer(),
  keep_alive: Type.Boolean(),
  parameters_schema: Type.Unknown(),
  last_run: Type.Unknown(),
});

export const Run = Type.Object({
  run_id: Type.String(),
  script_id: Type.String(),
  script_name: Type.String(),
  script_version: Type.Integer(),
  status: Type.String({ description: 'queued, running, success, failed or stopped.' }),
  waiting_for: Type.Unknown({
    description:
      'What a queued run waits for. With the kind `approval`, a user must approve the run in the dashboard.',
  }),
  failure_reason: MaybeText,
  exit_code: MaybeNumber,
  trigger_type: Type.String(),
  requested_by: Type.Unknown(),
  queued_at: Type.String(),
  started_at: MaybeText,
  finished_at: MaybeText,
  duration_ms: MaybeNumber,
  log_lines: MaybeNumber,
  output: Type.Unknown(),
  error: Type.Unknown({
    description: 'The error of a failed run: type, message, frames (outermost first) and causes.',
  }),
  error_group_id: MaybeText,
});

/** The fields of a run in a list, because a page of complete runs with their errors is large. */
export const ListedRun = Type.Object({
  ...Type.Pick(Run, [
    'run_id',
    'script_id',
    'script_name',
    'script_version',
    'status',
    'failure_reason',
    'exit_code',
    'trigger_type',
    'queued_at',
    'duration_ms',
    'error_group_id',
  ]).properties,
  error: Nullable(
    Type.String({
      description: 'The exception and the first line of its message. get_run returns the frames.',
    }),
  ),
});

export const Approval = Type.Object({
  id: Type.String({ description: 'For a run, the ID of the run.' }),
  kind: Type.String({ description: '`run`, or `save` for a change to the script.' }),
  subject: Type.Unknown({ description: 'The run, or the changed script.' }),
  requested_by: Type.String(),
  requested_at: Type.String(),
  expires_at: Type.String(),
  status: Type.String({
    description: 'pending, approved, rejected, expired or withdrawn.',
  }),
  decided_by: MaybeText,
});

export const LogLine = Type.Object({
  seq: Type.Integer(),
  time: Type.String(),
  stream: Type.String(),
  level: MaybeText,
  text: Type.String(),
});

export const Schedule = Type.Object({
  id: Type.String(),
  script_id: Type.String(),
  name: MaybeText,
  kind: Type.String(),
  cron: MaybeText,
  interval_seconds: MaybeNumber,
  once_at: MaybeText,
  timezone: Type.String(),
  enabled: Type.Boolean(),
  next_fire_at: MaybeText,
  last_fire_at: MaybeText,
  calendar_id: MaybeText,
});

/** Fetches a list from the API. Each item has only the fields of the schema. */
export async function listOf<Item extends TObject>(
  item: Item,
  path: string,
  query: ApiCall['query'],
  { api, signal }: Pick<ToolUse, 'api' | 'signal'>,
): Promise<{ items: Static<Item>[]; next_cursor: string | null }> {
  const { body } = await api.call<Page>('GET', path, { ...(query && { query }), signal });
  return {
    items: body.items.map((one) => picked(item, one)),
    next_cursor: body.next_cursor ?? null,
  };
}

interface Page {
  readonly items: readonly object[];
  /** Absent if the list has only one page. */
  readonly next_cursor?: string | null;
}
