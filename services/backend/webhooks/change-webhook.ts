/** Creates and changes webhooks: their settings, tokens and signing secrets. */
import type { Principal } from '#domain/kernel/actor.ts';
import { mustParse, parseScriptId, parseWebhookId, type WebhookId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { ChangeWebhook, WebhookCommand } from '#domain/webhook/commands.ts';
import type { WebhookSigning } from '#domain/webhook/webhook.ts';
import { findWebhook, type WebhookView } from '#projections/webhooks/queries.ts';
import type { Static } from 'typebox';
import { isIn, canSeeScript } from '../access/visibility.ts';
import { accepted, type Accepted } from '../http/outcome.ts';
import { isProblem, notFound, badField, type Problem } from '../http/problem.ts';
import { sealing } from '../http/sealing.ts';
import type { Services } from '../services.ts';
import { newSigningSecret, newWebhookToken } from './credentials.ts';
import type { NewWebhook, WebhookChange } from './schema.ts';

interface Asking<Body> {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly body: Body;
}

/** A completed change, with the secrets that the response shows once. */
export interface Changed {
  readonly outcome: Accepted;
  readonly token?: string;
  readonly signingSecret?: string;
}

/** A webhook that is visible to the caller. */
export async function visibleWebhook(
  principal: Principal,
  webhookId: WebhookId,
  { readModels }: Services,
): Promise<WebhookView | undefined> {
  const webhook = await findWebhook(readModels, webhookId);
  return webhook !== undefined && isIn(principal, webhook.group_id) ? webhook : undefined;
}

export async function createWebhook(
  { principal, context, body }: Asking<Static<typeof NewWebhook>>,
  services: Services,
): Promise<Changed | Problem> {
  const scriptId = mustParse(parseScriptId, body.script_id);
  if (!(await canSeeScript(principal, scriptId, services.readModels))) {
    return badField('script_id', 'script not found');
  }
  const webhookId = mustParse(parseWebhookId, services.ids.next());
  const { text: token, hash } = newWebhookToken();
  const secret = body.signing === true ? await newSecret(webhookId, 1, services) : undefined;
  if (isProblem(secret)) return secret;
  const outcome = await executeCommand(
    {
      type: 'CreateWebhook',
      webhookId,
      scriptId,
      name: body.name ?? 'webhook',
      enabled: body.enabled ?? true,
      whenBusy: body.when_busy ?? 'refuse',
      rateLimitPerMinute: body.rate_limit_per_minute ?? 60,
      tokenHash: hash,
      ...(secret !== undefined && { signing: secret.signing }),
    },
    context,
    services,
  );
  if (isProblem(outcome)) return outcome;
  return { outcome, token, ...(secret !== undefined && { signingSecret: secret.text }) };
}

export async function changeWebhook(
  webhookId: WebhookId,
  { principal, context, body }: Asking<Static<typeof WebhookChange>>,
  services: Services,
): Promise<Changed | Problem> {
  const present = await visibleWebhook(principal, webhookId, services);
  if (present === undefined) return notFound;
  const { name, enabled, when_busy: whenBusy, rate_limit_per_minute: rate, signing } = body;
  const changes = {
    ...(name !== undefined && { name }),
    ...(enabled !== undefined && { enabled }),
    ...(whenBusy !== undefined && { whenBusy }),
    ...(rate !== undefined && { rateLimitPerMinute: rate }),
  };
  const change: ChangeWebhook = { type: 'ChangeWebhook', webhookId, changes };
  if (signing === true && present.signing === null) {
    return await withNewSecret(present, change, context, services);
  }
  const ending = signing === false && { signing: null };
  const outcome = await executeCommand({ ...change, ...ending }, context, services);
  if (isProblem(outcome)) return outcome;
  if (signing === false) await services.vault.destroyUnusedKey(webhookId);
  return { outcome };
}

/** Replaces the token. The previous token stops working immediately. Other settings are unchanged. */
export async function rotateToken(
  webhookId: WebhookId,
  { principal, context }: Omit<Asking<unknown>, 'body'>,
  services: Services,
): Promise<Changed | Problem> {
  if ((await visibleWebhook(principal, webhookId, services)) === undefined) return notFound;
  const { text: token, hash } = newWebhookToken();
  const command = { type: 'RotateWebhook', webhookId, tokenHash: hash } as const;
  const outcome = await executeCommand(command, context, services);
  return isProblem(outcome) ? outcome : { outcome, token };
}

/** Replaces the signing secret. The previous secret stops working immediately. Other settings are unchanged. */
export async function rotateSecret(
  webhookId: WebhookId,
  { principal, context }: Omit<Asking<unknown>, 'body'>,
  services: Services,
): Promise<Changed | Problem> {
  const present = await visibleWebhook(principal, webhookId, services);
  if (present === undefined) return notFound;
  if (present.signing === null) return badField('what', 'the webhook does not require signatures');
  const change: ChangeWebhook = { type: 'ChangeWebhook', webhookId, changes: {} };
  return await withNewSecret(present, change, context, services);
}

export async function deleteWebhook(
  webhookId: WebhookId,
  { principal, context }: Omit<Asking<unknown>, 'body'>,
  services: Services,
): Promise<Accepted | Problem> {
  if ((await visibleWebhook(principal, webhookId, services)) === undefined) return notFound;
  const outcome = await executeCommand({ type: 'DeleteWebhook', webhookId }, context, services);
  if (!isProblem(outcome)) await services.vault.destroyUnusedKey(webhookId);
  return outcome;
}

async function withNewSecret(
  present: WebhookView,
  change: ChangeWebhook,
  context: CommandContext,
  services: Services,
): Promise<Changed | Problem> {
  const secret = await newSecret(change.webhookId, present.signing_version + 1, services);
  if (isProblem(secret)) return secret;
  const outcome = await executeCommand({ ...change, signing: secret.signing }, context, services);
  return isProblem(outcome) ? outcome : { outcome, signingSecret: secret.text };
}

async function newSecret(
  webhookId: WebhookId,
  version: number,
  { vault }: Services,
): Promise<{ readonly text: string; readonly signing: WebhookSigning } | Problem> {
  const text = newSigningSecret();
  return await sealing('The secret', async () => {
    const sealed = await vault.seal({ scriptId: webhookId, name: 'signing', version }, text);
    return { text, signing: { version, sealed } };
  });
}

async function executeCommand(
  command: WebhookCommand,
  context: CommandContext,
  { commands }: Services,
): Promise<Accepted | Problem> {
  return accepted(await commands.execute(command, context));
}
