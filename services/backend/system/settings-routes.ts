/** Lists the environment's settings, for operators. */
import { operation, type Operation } from '../http/operation.ts';
import { json } from '../http/reply.ts';
import { Settings } from './settings-schema.ts';

const documentedIn = 'docs/settings.md';

const list = operation({
  method: 'get',
  path: '/api/v1/system/settings',
  operationId: 'listSettings',
  summary: 'List the environment settings of the backend',
  description:
    'Values of secret settings are never returned. `source` shows whether such a setting is set, ' +
    'unless the backend does not receive the setting. Other processes may have different settings.',
  tag: 'System',
  access: { right: 'system.manage' },
  responses: { 200: { description: 'The complete list.', schema: Settings } },
  handle: (_call, { settings }) =>
    Promise.resolve(json(200, { documented_in: documentedIn, items: settings })),
});

export const systemSettingsOperations: readonly Operation[] = [list];
