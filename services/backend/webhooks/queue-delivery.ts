/** Queues the run of an accepted call, or of a redelivery. */
import { mustParse, parseRunId, parseScriptId, parseWebhookId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { RunScript } from '#domain/run/commands.ts';
import type { CalledWebhook } from '#projections/webhooks/queries.ts';
import { approvalRequest } from '#services/shared/approval-requests.ts';
import { paramsObjection } from '#services/shared/run-requests.ts';
import { accepted } from '../http/outcome.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { runOf, type Queued } from '../runs/queue-run.ts';
import type { Services } from '../services.ts';

export interface ToDeliver {
  readonly webhook: CalledWebhook;
  /** The hash of the payload, which consists of headers and body. */
  readonly payloadSha256: string;
  /** The payload to store with the run; absent if it is already stored. If the call is refused, nothing is stored. */
  readonly payload?: Uint8Array;
  /** The size of the body. */
  readonly sizeBytes: number | null;
  readonly redeliveryOf?: string;
  readonly context: CommandContext;
}

export async function queueDelivery(
  { webhook, payloadSha256, payload, sizeBytes, redeliveryOf, context }: ToDeliver,
  services: Services,
): Promise<Queued | Problem> {
  const { commands, ids, clock, findRunnable } = services;
  const scriptId = mustParse(parseScriptId, webhook.script_id);
  const script = await findRunnable(scriptId);
  if (script === undefined) return notFound;
  const mismatch = await paramsObjection(script, undefined, services);
  if (mismatch !== undefined) return mismatch;
  const command: RunScript = {
    type: 'RunScript',
    runId: mustParse(parseRunId, ids.next()),
    scriptId,
    trigger: {
      type: 'webhook',
      webhookId: mustParse(parseWebhookId, webhook.webhook_id),
      payloadSha256,
      ...(sizeBytes !== null && { sizeBytes }),
      ...(redeliveryOf !== undefined && { redeliveryOf }),
    },
    paramsSha256: null,
    timeoutSeconds: null,
    whenBusy: webhook.when_busy,
    approval: approvalRequest(context, clock),
    // While triggers are paused, the run is queued but must wait.
    ...(webhook.paused && { notBefore: clock.now().toISOString() }),
  };
  const outcome = accepted(await commands.execute(command, context, payload));
  return isProblem(outcome) ? outcome : { run: await runOf(outcome, services), outcome };
}

export const webhookDisabled = problem('webhook_disabled', 'The webhook is disabled.');
