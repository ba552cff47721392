/** The environment of a script's runs. */
import { operation, type Operation } from '../http/operation.ts';
import { isProblem } from '../http/problem.ts';
import { pathParameters } from '../schemas/common.ts';
import { commandScript, showScript, shown } from './script-answers.ts';

const rebuild = operation({
  method: 'post',
  path: '/api/v1/scripts/{id}/environment/rebuild',
  operationId: 'rebuildEnvironment',
  summary: "Resolve a script's requirements anew at its next run",
  description: 'Makes a new version of the script; runs of earlier versions keep what they have.',
  tag: 'Scripts',
  access: { right: 'scripts.write' },
  creates: true,
  parameters: { id: pathParameters.scriptId },
  responses: { 200: shown },
  handle: async (call, services) => {
    const { id: scriptId } = call.parameters;
    // The request names the resolution, so that a repeated one asks for the same.
    const settings = { resolution: call.context.commandId };
    const change = { type: 'ChangeScript', scriptId, settings } as const;
    const outcome = await commandScript(call, services, change);
    return isProblem(outcome) ? outcome : await showScript(call, scriptId, services, outcome);
  },
});

export const scriptEnvironmentOperations: readonly Operation[] = [rebuild];
