/** The call of a webhook: its token is all that the caller needs. */
import { buffer } from 'node:stream/consumers';
import { createHash } from 'node:crypto';
import {
  known,
  parseCommandId,
  parseRunId,
  parseScriptId,
  parseWebhookId,
} from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { RunScript } from '#domain/run/commands.ts';
import { webhookPayload } from '#domain/webhook/payload.ts';
import { webhookBurst } from '#domain/webhook/webhook.ts';
import { putPayload } from '#infra/postgres/payloads.ts';
import { readReports } from '#infra/postgres/run-reports.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { findCalledWebhook, type CalledWebhook } from '#projections/webhooks/queries.ts';
import { paramsObjection } from '#services/shared/run-requests.ts';
import Type from 'typebox';
import { operation, type Call, type Operation } from '../http/operation.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { examples } from '../schemas/common.ts';
import { HookAnswer } from '../schemas/webhook.ts';
import type { Services } from '../services.ts';
import { takeCall } from '../stores/webhook-calls.ts';
import { accepted, refusalProblem } from './outcome.ts';
import { runOf, type Queued } from './queue-run.ts';
import { untilFinished } from './wait-for-run.ts';
import { webhookTokenHash } from './webhooks.ts';

const maxBodyBytes = 1024 * 1024;

const disabled = problem('webhook_disabled', 'The webhook is disabled.');

const call = operation({
  method: 'post',
  path: '/api/v1/hooks/{token}',
  aliases: [{ path: '/hooks/{token}' }],
  operationId: 'callWebhook',
  summary: 'Call a webhook: queues a run of its script',
  description:
    'Any body of any type, up to 1 MiB, reaches the run as the file that `ORCH_PAYLOAD_FILE` names, and the ' +
    'headers that tell what it is as JSON in `ORCH_PAYLOAD_HEADERS`. `?wait=30` waits for the end of the run. ' +
    `At most ${webhookBurst} calls at once, and then the webhook's rate. While triggers are paused the run ` +
    'waits until they are resumed. The same `Idempotency-Key` and body make one run.',
  tag: 'Webhooks',
  access: 'public',
  parameters: {
    token: {
      description: 'Token of the webhook.',
      schema: Type.String(),
      example: examples.webhookToken,
      // Whatever it is, it is looked up the same way.
      parse: (text: string) => text,
    },
  },
  query: Type.Object(
    {
      wait: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds to wait for the end.' }),
      ),
    },
    { additionalProperties: false },
  ),
  body: {
    schema: Type.Unknown(),
    example: { ref: 'refs/heads/main' },
    optional: true,
    rawMaxBytes: maxBodyBytes,
    rawMediaTypes: ['*/*'],
    bytesOnly: true,
  },
  responses: {
    202: { description: 'Queued.', schema: HookAnswer },
    200: { description: 'Ended within the time that `wait` named.', schema: HookAnswer },
  },
  refusals: ['webhook_disabled', 'script_disabled', 'concurrency_limit_reached', 'rate_limited'],
  handle: async ({ parameters, query, raw, context, headers, gone }, services) => {
    const webhook = await findCalledWebhook(
      services.readModels,
      webhookTokenHash(parameters.token),
    );
    if (webhook === undefined) return notFound;
    const resource = `webhook-${webhook.webhook_id}`;
    if (!webhook.enabled) return { ...disabled, resource };
    const busy = await rateProblem(webhook, services);
    if (busy !== undefined) return { ...busy, resource };
    const body = raw === undefined ? Buffer.alloc(0) : await buffer(raw.chunks);
    const queued = await queueCalled({ webhook, body, context, headers }, services);
    if (isProblem(queued)) return { ...queued, resource };
    const wait = query.wait ?? 0;
    const run = wait === 0 ? queued.run : await untilFinished(queued.run, wait, services, gone());
    return run.finished_at === null || wait === 0
      ? json(202, { run_id: run.run_id, status: run.status })
      : json(200, await resultOf(run, services));
  },
});

async function rateProblem(
  { webhook_id: id, rate_limit_per_minute: perMinute }: CalledWebhook,
  { database }: Services,
): Promise<Problem | undefined> {
  const { allowed, retryAfterSeconds } = await takeCall(database, id, perMinute);
  if (allowed) return undefined;
  return problem('rate_limited', 'The webhook is called too often.', {
    headers: {
      'Retry-After': String(retryAfterSeconds),
      RateLimit: `"webhook";r=0;t=${retryAfterSeconds}`,
      'RateLimit-Policy': `"webhook";q=${perMinute};w=60`,
    },
  });
}

interface Received extends Pick<Call, 'headers' | 'context'> {
  readonly webhook: CalledWebhook;
  readonly body: Uint8Array;
}

/** The body is kept once it is sure that it is wanted: a refused call leaves nothing behind. */
async function queueCalled(received: Received, services: Services): Promise<Queued | Problem> {
  const { webhook, body, headers } = received;
  const { commands, database, ids, clock, findRunnable } = services;
  const scriptId = known(parseScriptId, webhook.script_id);
  const script = await findRunnable(scriptId);
  if (script === undefined) return notFound;
  const mismatch = await paramsObjection(script, undefined, services);
  if (mismatch !== undefined) return mismatch;
  const payload = webhookPayload(headers, body);
  const webhookId = known(parseWebhookId, webhook.webhook_id);
  const payloadSha256 = createHash('sha256').update(payload).digest('hex');
  const command: RunScript = {
    type: 'RunScript',
    runId: known(parseRunId, ids.next()),
    scriptId,
    trigger: { type: 'webhook', webhookId, payloadSha256 },
    paramsSha256: null,
    timeoutSeconds: null,
    whenBusy: webhook.when_busy,
    // Held: it is released when triggers are resumed.
    ...(webhook.paused && { notBefore: clock.now().toISOString() }),
  };
  // Whoever calls again is told of the first run, whatever has come to stand in the way of another.
  const isKeyed = headers['idempotency-key'] !== undefined;
  const refusal = isKeyed ? undefined : await commands.check(command);
  if (refusal !== undefined) return refusalProblem(refusal);
  await putPayload(database, payload);
  const outcome = accepted(await commands.execute(command, contextOf(received, services)));
  return isProblem(outcome) ? outcome : { run: await runOf(outcome, services), outcome };
}

/** Callers send again what they got no answer to: under the same key that makes no further run. */
function contextOf(
  { webhook, body, headers, context }: Received,
  { ids }: Services,
): CommandContext {
  const { webhook_id: id, name } = webhook;
  const actor = { kind: 'webhook', webhookId: known(parseWebhookId, id), name } as const;
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return { ...context, actor };
  const fingerprint = createHash('sha256').update(body).digest('hex');
  const commandId = known(parseCommandId, ids.derived(id, key));
  return { ...context, actor, commandId, fingerprint };
}

async function resultOf(run: RunsTable, { database }: Services) {
  const report = (await readReports(database, [run.run_id])).get(run.run_id);
  const output = JSON.parse(report?.output ?? 'null') as unknown;
  return { run_id: run.run_id, status: run.status, exit_code: run.exit_code, output };
}

export const hookOperations: readonly Operation[] = [call];
