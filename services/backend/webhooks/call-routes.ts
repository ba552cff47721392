/** Receives webhook calls. The credentials are the token in the URL and, if calls are signed, the signature. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { mustParse, parseCommandId, parseWebhookId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { webhookPayload } from '#domain/webhook/payload.ts';
import { webhookBurst } from '#domain/webhook/webhook.ts';
import { payloadName } from '#infra/postgres/event-store/payloads.ts';
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { takeCall } from '#infra/postgres/operations/webhook-rate.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { findCalledWebhook, type CalledWebhook } from '#projections/webhooks/queries.ts';
import Type from 'typebox';
import { operation, type Call, type Operation } from '../http/operation.ts';
import { isProblem, notFound, problem, problemKinds, type Problem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, examples } from '../http/schema.ts';
import type { Queued } from '../runs/queue-run.ts';
import { untilFinished } from '../runs/wait-for-run.ts';
import type { Services } from '../services.ts';
import { webhookTokenHash } from './credentials.ts';
import { queueDelivery, webhookDisabled } from './queue-delivery.ts';
import { HookAnswer } from './schema.ts';
import { signatureFault } from './signatures.ts';

const maxBodyBytes = 1024 * 1024;

const call = operation({
  method: 'post',
  path: '/api/v1/hooks/{token}',
  aliases: [{ path: '/hooks/{token}' }],
  operationId: 'callWebhook',
  summary: 'Call a webhook to start a run of its script',
  description:
    'The body may have any content type and up to 1 MiB. The run receives the body as the file ' +
    'named by `ORCH_PAYLOAD_FILE`, and descriptive headers as JSON in `ORCH_PAYLOAD_HEADERS`. ' +
    '`?wait=30` ' +
    `waits for the run to end. Calls are limited to a burst of ${webhookBurst}, then to the webhook's ` +
    'rate. While triggers are paused, the new run waits. Calls with the same `Idempotency-Key` (or ' +
    '`webhook-id`) and body start only one run. If the webhook requires signatures, sign the call with ' +
    '`webhook-id`, `webhook-timestamp` and `webhook-signature` (Standard Webhooks), or ' +
    '`X-Hub-Signature-256` (GitHub).',
  tag: 'Webhooks',
  access: 'public',
  parameters: {
    token: {
      description: 'Token of the webhook.',
      schema: Type.String(),
      example: examples.webhookToken,
      // Malformed tokens are looked up like well-formed ones, so the response time reveals nothing.
      parse: (text: string) => text,
    },
  },
  query: Exact({
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 60,
        description: 'Maximum seconds to wait for the run to end.',
      }),
    ),
  }),
  body: {
    schema: Type.Unknown(),
    example: { ref: 'refs/heads/main' },
    optional: true,
    rawMaxBytes: maxBodyBytes,
    rawMediaTypes: ['*/*'],
    bytesOnly: true,
  },
  responses: {
    202: { description: 'The run is queued.', schema: HookAnswer },
    200: { description: 'The run ended within the time given by `wait`.', schema: HookAnswer },
  },
  refusals: [
    'invalid_signature',
    'webhook_disabled',
    'script_disabled',
    'concurrency_limit_reached',
    'rate_limited',
  ],
  handle: async ({ parameters, query, raw, context, headers, gone, ip }, services) => {
    const webhook = await findCalledWebhook(
      services.readModels,
      webhookTokenHash(parameters.token),
    );
    if (webhook === undefined) return notFound;
    const received: Received = { webhook, ip, headers, context };
    const closed = webhook.enabled ? await rateProblem(webhook, services) : webhookDisabled;
    if (closed !== undefined) return missed(received, closed, undefined, services);
    const body = raw === undefined ? Buffer.alloc(0) : await buffer(raw.chunks);
    const unsigned = await signatureProblem(received, body, services);
    if (unsigned !== undefined) return missed(received, unsigned, body, services);
    const queued = await queueCalled(received, body, services);
    if (isProblem(queued)) return missed(received, queued, body, services);
    if (queued.outcome.repeated) noteRepetition(received, queued.run, body, services);
    const wait = query.wait ?? 0;
    const run = wait === 0 ? queued.run : await untilFinished(queued.run, wait, services, gone());
    return run.finished_at === null || wait === 0
      ? json(202, { run_id: run.run_id, status: run.status })
      : json(200, await resultOf(run, services));
  },
});

interface Received extends Pick<Call, 'headers' | 'context' | 'ip'> {
  readonly webhook: CalledWebhook;
}

async function rateProblem(
  { webhook_id: id, rate_limit_per_minute: perMinute }: CalledWebhook,
  { database }: Services,
): Promise<Problem | undefined> {
  const { allowed, retryAfterSeconds } = await takeCall(database, id, perMinute);
  if (allowed) return undefined;
  return problem('rate_limited', "The webhook's rate limit was exceeded. Try again later.", {
    headers: {
      'Retry-After': String(retryAfterSeconds),
      RateLimit: `"webhook";r=0;t=${retryAfterSeconds}`,
      'RateLimit-Policy': `"webhook";q=${perMinute};w=60`,
    },
  });
}

async function signatureProblem(
  { webhook: { webhook_id: webhookId, signing }, headers }: Received,
  body: Uint8Array,
  { vault, clock, logger }: Services,
): Promise<Problem | undefined> {
  if (signing === null) return undefined;
  try {
    const place = { scriptId: webhookId, name: 'signing', version: signing.version };
    const secret = await vault.open(place, signing.sealed);
    const fault = signatureFault(headers, body, secret, clock.now());
    if (fault === undefined) return undefined;
    return problem('invalid_signature', fault, { headers: { 'WWW-Authenticate': 'Signature' } });
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    logger.error({ error, webhookId }, 'signature of a webhook call could not be checked');
    return problem(
      'unavailable',
      'The signature cannot be checked at the moment. Try again later.',
    );
  }
}

async function queueCalled(
  received: Received,
  body: Uint8Array,
  services: Services,
): Promise<Queued | Problem> {
  const payload = webhookPayload(received.headers, body);
  const toDeliver = {
    webhook: received.webhook,
    payloadSha256: payloadName(payload),
    payload,
    sizeBytes: body.length,
    context: contextOf(received, body, services),
  };
  return await queueDelivery(toDeliver, services);
}

/** The context of a call. Calls with the same key create one run, because callers retry calls that got no response. */
function contextOf(
  { webhook, headers, context }: Received,
  body: Uint8Array,
  { ids }: Services,
): CommandContext {
  const { webhook_id: id, name } = webhook;
  const actor = { kind: 'webhook', webhookId: mustParse(parseWebhookId, id), name } as const;
  const key = keyOf(headers);
  if (key === undefined) return { ...context, actor };
  const fingerprint = createHash('sha256').update(body).digest('hex');
  const commandId = mustParse(parseCommandId, ids.derived(id, key));
  return { ...context, actor, commandId, fingerprint };
}

/** The caller's ID for the message. */
function keyOf(headers: Call['headers']): string | undefined {
  const { 'idempotency-key': key, 'webhook-id': id } = headers;
  if (typeof key === 'string') return key;
  return typeof id === 'string' ? `webhook-id ${id}` : undefined;
}

/** Records a refused call. If the reason is temporary, users can deliver the call again. */
function missed(
  { webhook, headers, ip }: Received,
  refused: Problem,
  body: Uint8Array | undefined,
  { webhookMisses }: Services,
): Problem {
  const { webhook_id: webhookId } = webhook;
  const { code } = refused;
  const mayGoWell = code !== 'invalid_signature' && code !== 'idempotency_key_reused';
  webhookMisses.note({
    webhookId,
    code,
    status: problemKinds[code].status,
    runId: null,
    ip,
    sizeBytes: body?.length ?? null,
    ...(body !== undefined && mayGoWell && { payload: webhookPayload(headers, body) }),
  });
  return { ...refused, resource: `webhook-${webhookId}` };
}

function noteRepetition(
  { webhook, ip }: Received,
  { run_id: runId }: RunsTable,
  body: Uint8Array,
  { webhookMisses }: Services,
): void {
  const { webhook_id: webhookId } = webhook;
  const answered = { code: null, status: 202, runId };
  webhookMisses.note({ webhookId, ...answered, ip, sizeBytes: body.length });
}

async function resultOf(run: RunsTable, { database }: Services) {
  const report = (await readReports(database, [run.run_id])).get(run.run_id);
  const output = JSON.parse(report?.output ?? 'null') as unknown;
  return { run_id: run.run_id, status: run.status, exit_code: run.exit_code, output };
}

export const hookOperations: readonly Operation[] = [call];
