/** The WebSockets in the API description: OpenAPI has no word for frames, so they are shown as what a
 *  101 answer leads to. */
import Type, { type TSchema } from 'typebox';
import type { SocketDescription } from '../http/description/openapi.ts';
import { examples, Nullable, Time, Uuid } from '../http/schema.ts';
import { LogLine, Run, RunStatusSchema } from '../runs/schema.ts';
import { Script } from '../scripts/schema.ts';

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
    frame('resync', 'Fetch what you show: the first frame, and whenever frames were left out.', {
      position,
    }),
    frame('status', 'A run as it is now.', { run: Run }),
    frame('script', 'A script as it is now.', { script: Script }),
    frame('script_deleted', 'The script was deleted.', { script_id: Uuid() }),
    frame('changed', 'Something else has changed: fetch it if you show it.', {
      resource: Type.Enum([
        'schedule',
        'webhook',
        'chain',
        'secrets',
        'notification',
        'user',
        'system',
      ]),
      id: Type.String({ description: 'Of the secrets of a script, its id.' }),
      script_id: Nullable(Uuid()),
    }),
    frame('heartbeat', 'Every 15 seconds, as a sign of life.', { position }),
  ],
  { title: 'FeedFrame', description: 'One frame of `/ws`, as JSON text.' },
);

const RunFrame = Type.Union(
  [
    frame('log', 'Lines of the log, without a gap or a repeat.', { items: Type.Array(LogLine) }),
    frame('status', 'The run as it is now.', { run: Run }),
    frame('sample', 'What the run uses.', {
      time: Time(),
      cpu_seconds: Type.Number(),
      memory_bytes: Type.Integer(),
      threads: Type.Integer(),
      processes: Type.Integer(),
    }),
    frame('end', 'The last frame; the socket is closed with 1000.', { status: RunStatusSchema }),
  ],
  { title: 'RunFrame', description: 'One frame of `/ws/runs/{run_id}`, as JSON text.' },
);

const signingIn =
  'The token comes as subprotocol `orch.bearer.<token>`, an access token or an API token (offer `orch.v1` too, which is the answer), as ' +
  '`Authorization` header, in the session cookie of a page of this origin that offers `orch.session.<session_key>` beside ' +
  '`orch.v1`, or as a one-time ticket in `token`. Close codes: 4401 token, 4403 role, 4404 unknown, 1001 the service stops.';

const tokenParameter = {
  name: 'token',
  in: 'query',
  required: false,
  description: 'A ticket of `POST /api/v1/auth/ws-ticket`. Where it is given, it alone counts.',
  schema: { type: 'string' },
};

export const socketDescriptions: readonly SocketDescription[] = [
  {
    path: '/ws',
    operationId: 'followAll',
    summary: 'Follow all runs and scripts that you may see, and learn what else has changed',
    description: `Needs the rights \`runs.read\` and \`scripts.list\`. ${signingIn}`,
    frames: FeedFrame,
    parameters: [tokenParameter],
  },
  {
    path: '/ws/runs/{run_id}',
    operationId: 'followRun',
    summary: 'Follow a run: its log, status and use',
    description: `Needs the right \`runs.read\`. ${signingIn}`,
    frames: RunFrame,
    parameters: [
      {
        name: 'run_id',
        in: 'path',
        required: true,
        description: 'Id of the run.',
        schema: Uuid(),
        example: examples.runId,
      },
      {
        name: 'from_seq',
        in: 'query',
        required: false,
        description: 'The first line that is wanted.',
        schema: { type: 'integer', minimum: 1, default: 1 },
      },
      tokenParameter,
    ],
  },
];
