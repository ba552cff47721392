import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { differing } from '#domain/kernel/differing.ts';
import type { WebhookCommand } from './commands.ts';
import type { WebhookEvent } from './events.ts';
import { evolveWebhook, initialWebhook, type WebhookState } from './state.ts';

/** Asked where a webhook is made. */
export interface WebhookFacts {
  readonly scriptExists: boolean;
}

export function decideWebhook(
  state: WebhookState,
  command: WebhookCommand,
  facts: WebhookFacts | undefined,
): Decision<WebhookEvent> {
  if (command.type === 'CreateWebhook') {
    if (state.status !== 'absent') return accept();
    if (facts?.scriptExists !== true) return refuse('not_found', 'There is no such script.');
    const { type: _, ...data } = command;
    return accept({ type: 'WebhookCreated', data });
  }
  if (command.type === 'DeleteWebhook' && state.status === 'deleted') return accept();
  if (state.status !== 'there') return refuse('not_found', 'There is no such webhook.');
  const { webhookId } = command;
  switch (command.type) {
    case 'ChangeWebhook': {
      const changes = differing(state.settings, command.changes);
      if (Object.keys(changes).length === 0) return accept();
      return accept({ type: 'WebhookChanged', data: { webhookId, ...changes } });
    }
    case 'RotateWebhook': {
      const { tokenHash } = command;
      if (tokenHash === state.tokenHash) return accept();
      return accept({ type: 'WebhookRotated', data: { webhookId, tokenHash } });
    }
    case 'DeleteWebhook':
      return accept({ type: 'WebhookDeleted', data: { webhookId } });
  }
}

export const webhookAggregate: Aggregate<
  WebhookState,
  WebhookCommand,
  WebhookEvent,
  WebhookFacts | undefined
> = {
  streamType: 'webhook',
  initial: initialWebhook,
  evolve: evolveWebhook,
  stateVersion: 1,
  decide: decideWebhook,
  streamOf: (command) => `webhook-${command.webhookId}`,
  guards: (command) => (command.type === 'CreateWebhook' ? [`script-${command.scriptId}`] : []),
  gather: async (command, world) => {
    if (command.type !== 'CreateWebhook') return undefined;
    const script = await world.script(command.scriptId);
    return { scriptExists: script !== undefined && !script.deleted };
  },
};
