/** Requests runs on behalf of all APIs. */
import { mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext, Commands, Outcome } from '#domain/ports/commands.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { RunScript } from '#domain/run/commands.ts';
import { maxParamsBytes } from '#domain/run/run.ts';
import { payloadName } from '#infra/postgres/event-store/payloads.ts';
import type { RunnableScript } from '#projections/scripts/queries.ts';
import { approvalRequest } from './approval-requests.ts';
import { objection, type Objection } from './faults.ts';
import type { ParameterSchemas } from './parameter-schemas/parameter-schemas.ts';

export interface RunRequestDeps {
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly parameterSchemas: ParameterSchemas;
}

export interface RunRequest extends Pick<RunScript, 'trigger' | 'timeoutSeconds' | 'whenBusy'> {
  /** The script to run, which must be visible to the caller. */
  readonly script: RunnableScript;
  /** The parameters, or `undefined` if there are none. */
  readonly params: unknown;
  readonly context: CommandContext;
}

/** Queues a run if its parameters are valid and the script permits the run. A refused request stores no data. */
export async function requestRun(
  { script, params, context, ...wanted }: RunRequest,
  deps: RunRequestDeps,
): Promise<Outcome | Objection> {
  const { commands, ids, clock } = deps;
  const content = params === undefined ? undefined : Buffer.from(JSON.stringify(params));
  if (content !== undefined && content.length > maxParamsBytes) return paramsTooLarge;
  const mismatch = await paramsObjection(script, params, deps);
  if (mismatch !== undefined) return mismatch;
  const command: RunScript = {
    type: 'RunScript',
    runId: mustParse(parseRunId, ids.next()),
    scriptId: mustParse(parseScriptId, script.script_id),
    paramsSha256: content === undefined ? null : payloadName(content),
    ...wanted,
    approval: approvalRequest(context, clock),
  };
  return await commands.execute(command, context, content);
}

/** Validates a run's parameters against the script's schema, and returns the errors. */
export async function paramsObjection(
  { parameters_schema: schema }: Pick<RunnableScript, 'parameters_schema'>,
  params: unknown,
  { parameterSchemas }: Pick<RunRequestDeps, 'parameterSchemas'>,
): Promise<Objection | undefined> {
  if (schema === null) return undefined;
  return await parameterSchemas.valueProblem(schema, params ?? {}, 'params');
}

export const paramsTooLarge = objection(
  'payload_too_large',
  `The parameters may have at most ${maxParamsBytes} bytes of JSON.`,
);
