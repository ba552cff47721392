/** The settings of the environment, for those who look after the platform. */
import { operation, type Operation } from '../http/operation.ts';
import { json } from '../http/reply.ts';
import { Settings } from './settings-schema.ts';

const documentedIn = 'docs/settings.md';

const list = operation({
  method: 'get',
  path: '/api/v1/system/settings',
  operationId: 'listSettings',
  summary: 'The settings of the environment, as the backend finds them',
  description:
    'No secret is shown, only whether it is set; of those that the backend is not given, not even that. ' +
    'Other processes may be started with others.',
  tag: 'System',
  access: { right: 'system.manage' },
  responses: { 200: { description: 'All of them.', schema: Settings } },
  handle: (_call, { settings }) =>
    Promise.resolve(json(200, { documented_in: documentedIn, items: settings })),
});

export const systemSettingsOperations: readonly Operation[] = [list];
