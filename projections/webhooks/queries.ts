import type { GroupId, ScriptId, WebhookId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import type { OwnedByScript } from '../scripts/queries.ts';
import { statement } from '../statement.ts';
import type { WebhooksTable } from './table.ts';

/** A webhook with the data to display it. Its script exists. */
export type WebhookView = WebhooksTable & {
  readonly group_id: string;
  readonly last_called_at: Date | null;
};

const view = `SELECT w.*, s.group_id, c.called_at AS last_called_at
  FROM webhooks w JOIN scripts s ON s.script_id = w.script_id AND NOT s.deleted
    LEFT JOIN webhook_calls c ON c.webhook_id = w.webhook_id
  WHERE NOT w.deleted`;

/** Returns a webhook, or `undefined` if it does not exist. */
export async function findWebhook(
  db: ReadModels,
  webhookId: WebhookId,
): Promise<WebhookView | undefined> {
  const [webhook] = await oneWebhook(db, webhookId);
  return webhook;
}

const oneWebhook = statement<WebhookView>(`${view} AND w.webhook_id = $1`);

export interface WebhookListFilter {
  /** Includes webhooks of these groups. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  readonly scriptId: ScriptId | null;
}

/** Lists webhooks, newest first, starting after `after`. Returns at most `limit` webhooks. */
export async function listWebhooks(
  db: ReadModels,
  { groupIds, scriptId }: WebhookListFilter,
  after: WebhookId | undefined,
  limit: number,
): Promise<readonly WebhookView[]> {
  return await manyWebhooks(db, groupIds, scriptId, after ?? null, limit);
}

const manyWebhooks = statement<WebhookView>(`${view}
  AND ($1::uuid[] IS NULL OR s.group_id = ANY($1)) AND ($2::uuid IS NULL OR w.script_id = $2)
  AND ($3::uuid IS NULL OR w.webhook_id < $3)
  ORDER BY w.webhook_id DESC LIMIT $4`);

/** Returns the scripts and groups of webhooks. Deleted webhooks are included. */
export async function findWebhookOwners(
  db: ReadModels,
  webhookIds: readonly string[],
): Promise<readonly OwnedByScript[]> {
  return await ownersOf(db, webhookIds);
}

const ownersOf = statement<OwnedByScript>(`
  SELECT w.webhook_id AS id, w.script_id, s.group_id
  FROM webhooks w JOIN scripts s USING (script_id) WHERE w.webhook_id = ANY($1::uuid[])`);

/** The data of a webhook that is needed to handle a request. */
export type CalledWebhook = Pick<
  WebhooksTable,
  | 'webhook_id'
  | 'script_id'
  | 'name'
  | 'enabled'
  | 'when_busy'
  | 'rate_limit_per_minute'
  | 'signing'
> & {
  /** Whether automatic starts are paused. */
  readonly paused: boolean;
};

/** Returns the webhook whose token has this hash. */
export async function findCalledWebhook(
  db: ReadModels,
  tokenHash: string,
): Promise<CalledWebhook | undefined> {
  const [webhook] = await calledWebhook(db, tokenHash);
  return webhook;
}

/** Returns the webhook with this ID, with the data that is needed to handle a request. */
export async function findWebhookToCall(
  db: ReadModels,
  webhookId: WebhookId,
): Promise<CalledWebhook | undefined> {
  const [webhook] = await webhookToCall(db, webhookId);
  return webhook;
}

const toCall = `
  SELECT w.webhook_id, w.script_id, w.name, w.enabled, w.when_busy, w.rate_limit_per_minute,
    w.signing,
    EXISTS (SELECT FROM trigger_state WHERE paused) AS paused
  FROM webhooks w JOIN scripts s ON s.script_id = w.script_id AND NOT s.deleted
  WHERE NOT w.deleted`;

const calledWebhook = statement<CalledWebhook>(`${toCall} AND w.token_hash = $1`);
const webhookToCall = statement<CalledWebhook>(`${toCall} AND w.webhook_id = $1`);
