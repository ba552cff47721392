/** The WebSockets in the API description. OpenAPI cannot describe frames, so they appear as the content of a 101
 *  response. */
import Type, { type TSchema } from 'typebox';
import type { SocketDescription } from '../http/description/openapi.ts';
import { examples, Nullable, Time, Uuid } from '../http/schema.ts';
import { LogLine, Run, RunProgress, RunStatusSchema } from '../runs/schema.ts';
import { Script } from '../scripts/schema.ts';
import { RunSpan } from '../spans/schema.ts';

const frame = <Properties extends Record<string, TSchema>>(
  type: string,
  description: string,
  properties: Properties,
) =>
  Type.Object(
    { type: Type.Literal(type), ...properties },
    { description, additionalProperties: false },
  );

const position = Type.Integer({ minimum: 0 });

const FeedFrame = Type.Union(
  [
    frame(
      'resync',
      'The first frame. Sent again if frames were skipped; then reload all displayed resources.',
      {
        position,
      },
    ),
    frame('status', 'The current state of a run.', { run: Run }),
    frame('progress', 'Progress of a run, at most one frame per second for each run.', {
      run_id: Uuid(),
      progress: RunProgress,
    }),
    frame('script', 'The current state of a script.', { script: Script }),
    frame('script_deleted', 'The script was deleted.', { script_id: Uuid() }),
    frame('changed', 'Another resource has changed. Reload the resource if you display it.', {
      resource: Type.Enum([
        'schedule',
        'webhook',
        'chain',
        'secrets',
        'notification',
        'user',
        'system',
      ]),
      id: Type.String({ description: 'For secrets, the ID of their script or group.' }),
      script_id: Nullable(Uuid()),
    }),
    frame('heartbeat', 'Heartbeat, sent every 15 seconds.', { position }),
  ],
  { title: 'FeedFrame', description: 'One frame of `/ws`, as JSON text.' },
);

const RunFrame = Type.Union(
  [
    frame('log', 'Lines of the log, without gaps or duplicates.', { items: Type.Array(LogLine) }),
    frame('status', 'The current state of the run.', { run: Run }),
    frame('progress', 'Progress of the run.', { progress: RunProgress }),
    frame('span', 'A span of the script that has started or ended.', { span: RunSpan }),
    frame('sample', 'Resource usage of the run.', {
      time: Time(),
      cpu_seconds: Type.Number(),
      memory_bytes: Type.Integer(),
      threads: Type.Integer(),
      processes: Type.Integer(),
    }),
    frame('end', 'The last frame. The socket then closes with 1000.', { status: RunStatusSchema }),
  ],
  { title: 'RunFrame', description: 'One frame of `/ws/runs/{run_id}`, as JSON text.' },
);

const EditorsFrame = frame(
  'editors',
  'The users who have the file open and may change it, including the caller. Sent first, after each change and ' +
    'every 10 seconds.',
  {
    editors: Type.Array(Type.Object({ user_id: Uuid(), name: Type.String() }), { maxItems: 20 }),
  },
);

const signingIn =
  'Authenticate in one of four ways. With an access token or API token, offer the subprotocols ' +
  '`orch.bearer.<token>` and `orch.v1`; the server selects `orch.v1`. Or send the token in the ' +
  '`Authorization` header. Or, from a same-origin page, use the session cookie and offer the ' +
  'subprotocols ' +
  '`orch.session.<session_key>` and `orch.v1`. Or pass a one-time ticket in `token`. Close codes: 4401 ' +
  'invalid token, 4403 insufficient role, 4404 not found, 1001 service stopping.';

const tokenParameter = {
  name: 'token',
  in: 'query',
  required: false,
  description:
    'A ticket from `POST /api/v1/auth/ws-ticket`. If present, other credentials are ignored.',
  schema: { type: 'string' },
};

export const socketDescriptions: readonly SocketDescription[] = [
  {
    path: '/ws',
    operationId: 'followAll',
    summary: 'Follow all runs, scripts and changes to other resources that the caller can access',
    description: `Requires the \`runs.read\` and \`scripts.list\` rights. ${signingIn}`,
    frames: FeedFrame,
    parameters: [tokenParameter],
  },
  {
    path: '/ws/runs/{run_id}',
    operationId: 'followRun',
    summary: 'Follow a run: log, status and resource usage',
    description: `Requires the \`runs.read\` right. ${signingIn}`,
    frames: RunFrame,
    parameters: [
      {
        name: 'run_id',
        in: 'path',
        required: true,
        description: 'ID of the run.',
        schema: Uuid(),
        example: examples.runId,
      },
      {
        name: 'from_seq',
        in: 'query',
        required: false,
        description: 'The first log line to send.',
        schema: { type: 'integer', minimum: 1, default: 1 },
      },
      tokenParameter,
    ],
  },
  {
    path: '/ws/scripts/{script_id}/editors',
    operationId: 'followEditors',
    summary: 'Stream the users who are editing a script file',
    description:
      'While the socket is open, its user counts as an editor of the file if the user has the `scripts.write` ' +
      `right. Requires the \`files.read\` right. ${signingIn}`,
    frames: EditorsFrame,
    parameters: [
      {
        name: 'script_id',
        in: 'path',
        required: true,
        description: 'ID of the script.',
        schema: Uuid(),
        example: examples.scriptId,
      },
      {
        name: 'path',
        in: 'query',
        required: true,
        description: 'Path of the file. The file need not exist yet.',
        schema: { type: 'string' },
        example: 'main.py',
      },
      tokenParameter,
    ],
  },
];
