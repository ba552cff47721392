/** Webhooks in a configuration. Tokens are not exported. An import that creates a webhook generates a new token. */
import { mustParse, parseScriptId, parseWebhookId } from '#domain/kernel/ids.ts';
import type { WebhookSettings } from '#domain/webhook/webhook.ts';
import { ownedWebhooks } from '#projections/configuration/queries.ts';
import { problem } from '../../http/problem.ts';
import { newWebhookToken, newSigningSecret } from '../../webhooks/credentials.ts';
import type { Given, Kind, Wanted } from '../kind.ts';

type Webhook = Given<'webhooks'>;

const usual: WebhookSettings = {
  name: 'webhook',
  enabled: true,
  whenBusy: 'refuse',
  rateLimitPerMinute: 60,
};

export const webhookKind: Kind<'webhooks'> = {
  kind: 'webhook',
  section: 'webhooks',
  stream: 'webhook',
  present: async ({ services: { readModels } }) => {
    const rows = await ownedWebhooks(readModels);
    return rows.map((row) => {
      const { webhook_id: id, script_id } = row;
      const webhookId = mustParse(parseWebhookId, id);
      const isSigned = row.signing !== null;
      const settings: WebhookSettings = {
        name: row.name,
        enabled: row.enabled,
        whenBusy: row.when_busy,
        rateLimitPerMinute: row.rate_limit_per_minute,
      };
      return {
        item: itemOf(id, script_id, settings, isSigned),
        hidden: row.hidden,
        change: (given) => {
          if (given.script_id !== script_id) return Promise.resolve(ofAnotherScript);
          const changes = settingsOf(given, settings);
          const signing = given.signing ?? isSigned;
          const wanted: Wanted = {
            item: itemOf(id, script_id, changes, signing),
            commands: async (keeping) => {
              const change = { type: 'ChangeWebhook', webhookId, changes } as const;
              if (signing === isSigned) return [change];
              if (!signing) return [{ ...change, signing: null }];
              const secret = newSigningSecret();
              const made = await keeping.signing(id, row.signing_version + 1, secret);
              keeping.show({ kind: 'webhook', id, name: changes.name, signing_secret: secret });
              return [{ ...change, ...(made && { signing: made }) }];
            },
          };
          return Promise.resolve(wanted);
        },
        remove: () => ({ type: 'DeleteWebhook', webhookId }),
      };
    });
  },
  make: (given) => {
    const settings = settingsOf(given, usual);
    const signing = given.signing ?? false;
    const webhookId = mustParse(parseWebhookId, given.id);
    const scriptId = mustParse(parseScriptId, given.script_id);
    return Promise.resolve({
      item: itemOf(given.id, given.script_id, settings, signing),
      note: 'The webhook gets a new token, which is shown once.',
      commands: async (keeping) => {
        const { text: token, hash: tokenHash } = newWebhookToken();
        const secret = signing ? newSigningSecret() : undefined;
        const made = secret && (await keeping.signing(webhookId, 1, secret));
        const shown = { kind: 'webhook', id: webhookId, name: settings.name, token } as const;
        keeping.show({ ...shown, ...(secret !== undefined && { signing_secret: secret }) });
        const command = { type: 'CreateWebhook', webhookId, scriptId, tokenHash } as const;
        return [{ ...command, ...settings, ...(made && { signing: made }) }];
      },
    });
  },
};

const ofAnotherScript = problem(
  'validation_failed',
  'The script of a webhook cannot be changed. Use a new ID to create a webhook for this script.',
);

function settingsOf(given: Webhook, before: WebhookSettings): WebhookSettings {
  return {
    name: given.name ?? before.name,
    enabled: given.enabled ?? before.enabled,
    whenBusy: given.when_busy ?? before.whenBusy,
    rateLimitPerMinute: given.rate_limit_per_minute ?? before.rateLimitPerMinute,
  };
}

function itemOf(id: string, scriptId: string, settings: WebhookSettings, signing: boolean) {
  return {
    id,
    script_id: scriptId,
    name: settings.name,
    enabled: settings.enabled,
    when_busy: settings.whenBusy,
    rate_limit_per_minute: settings.rateLimitPerMinute,
    signing,
  };
}
