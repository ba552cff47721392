import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { pickChanges } from '#domain/kernel/pick-changes.ts';
import { newNameProblem } from '#domain/kernel/names.ts';
import type { WebhookCommand } from './commands.ts';
import type { WebhookEvent } from './events.ts';
import { evolveWebhook, initialWebhook, type WebhookState } from './state.ts';

export interface WebhookFacts {
  /** Whether the script exists. Checked only when a webhook is created. */
  readonly scriptExists: boolean;
  /** Whether the data key of the signing secret still exists. True if the command contains no secret. */
  readonly keyExists: boolean;
}

export function decideWebhook(
  state: WebhookState,
  command: WebhookCommand,
  { scriptExists, keyExists }: WebhookFacts,
): Decision<WebhookEvent> {
  if (command.type === 'CreateWebhook') {
    if (state.status !== 'absent') return accept();
    if (!scriptExists) return refuse('not_found', 'Script not found.');
    if (!keyExists) return outdated;
    const unusable = newNameProblem('name', command.name);
    if (unusable !== undefined) return refuse('validation_failed', unusable);
    const { type: _, signing, mayBeDeleted: __, ...data } = command;
    const { webhookId } = data;
    return accept<WebhookEvent>(
      { type: 'WebhookCreated', data },
      ...(signing === undefined
        ? []
        : [{ type: 'WebhookSigningSet', data: { webhookId, ...signing } } as const]),
    );
  }
  if (command.type === 'DeleteWebhook' && state.status === 'deleted') return accept();
  if (state.status !== 'there') return refuse('not_found', 'Webhook not found.');
  const { webhookId } = command;
  switch (command.type) {
    case 'ChangeWebhook': {
      const { signing } = command;
      if (signing && (!keyExists || signing.version !== state.signingVersion + 1)) return outdated;
      const changes = pickChanges(state.settings, command.changes);
      const unusable = newNameProblem('name', changes.name);
      if (unusable !== undefined) return refuse('validation_failed', unusable);
      const events: WebhookEvent[] = [];
      if (Object.keys(changes).length > 0) {
        events.push({ type: 'WebhookChanged', data: { webhookId, ...changes } });
      }
      if (signing) events.push({ type: 'WebhookSigningSet', data: { webhookId, ...signing } });
      if (signing === null && state.signing) {
        events.push({ type: 'WebhookSigningEnded', data: { webhookId } });
      }
      return accept(...events);
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

const outdated = refuse(
  'version_mismatch',
  'The webhook has changed since you read it. Reload it and try again.',
);

export const webhookAggregate: Aggregate<WebhookState, WebhookCommand, WebhookEvent, WebhookFacts> =
  {
    streamType: 'webhook',
    commands: {
      CreateWebhook: true,
      ChangeWebhook: true,
      RotateWebhook: true,
      DeleteWebhook: true,
    },
    events: {
      WebhookCreated: true,
      WebhookChanged: true,
      WebhookRotated: true,
      WebhookSigningSet: true,
      WebhookSigningEnded: true,
      WebhookDeleted: true,
    },
    initial: initialWebhook,
    evolve: evolveWebhook,
    stateVersion: 2,
    decide: decideWebhook,
    streamOf: (command) => `webhook-${command.webhookId}`,
    guards: (command) => (command.type === 'CreateWebhook' ? [`script-${command.scriptId}`] : []),
    readFacts: async (command, reads) => {
      const signing = 'signing' in command ? command.signing : undefined;
      const keyExists = !signing || (await reads.dataKeyExists(signing.sealed.keyId));
      if (command.type !== 'CreateWebhook') return { scriptExists: true, keyExists };
      const script = await reads.script(command.scriptId);
      const isUsable = script !== undefined && (!script.deleted || command.mayBeDeleted === true);
      return { scriptExists: isUsable, keyExists };
    },
  };
