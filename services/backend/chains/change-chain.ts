/** Creates and changes chains. */
import type { ChainSettings } from '#domain/chain/chain.ts';
import type { Principal } from '#domain/kernel/actor.ts';
import {
  mustParse,
  parseChainId,
  parseScriptId,
  type ChainId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { findChain, type ChainView } from '#projections/chains/queries.ts';
import { readParams } from '#infra/postgres/operations/params.ts';
import type { Static } from 'typebox';
import { automationProblem } from '../access/protected-scripts.ts';
import { isIn, canSeeScript } from '../access/visibility.ts';
import { accepted, type Accepted } from '../http/outcome.ts';
import { isProblem, notFound, badField, type Problem } from '../http/problem.ts';
import { triggerParams, type TriggerParams } from '../runs/trigger-params.ts';
import type { Services } from '../services.ts';
import type { ChainChange, NewChain } from './schema.ts';

interface Asking<Body> {
  readonly principal: Principal;
  readonly context: CommandContext;
  readonly body: Body;
}

/** Finds a chain, if the caller can see both of its scripts. */
export async function visibleChain(
  principal: Principal,
  chainId: ChainId,
  { readModels }: Services,
): Promise<ChainView | undefined> {
  const chain = await findChain(readModels, chainId);
  if (chain === undefined) return undefined;
  const { source_group_id: source, target_group_id: target } = chain;
  return isIn(principal, source) && isIn(principal, target) ? chain : undefined;
}

export async function createChain(
  call: Asking<Static<typeof NewChain>>,
  services: Services,
): Promise<Accepted | Problem> {
  const { body, context } = call;
  const sourceScriptId = await scriptNamed(
    'source_script_id',
    body.source_script_id,
    call,
    services,
  );
  if (isProblem(sourceScriptId)) return sourceScriptId;
  const targetScriptId = await scriptNamed(
    'target_script_id',
    body.target_script_id,
    call,
    services,
  );
  if (isProblem(targetScriptId)) return targetScriptId;
  const denied = await automationProblem(targetScriptId, call.principal, services);
  if (denied !== undefined) return denied;
  const params = await triggerParams(targetScriptId, body.params ?? null, services);
  if (isProblem(params)) return params;
  const outcome = await services.commands.execute(
    {
      type: 'CreateChain',
      chainId: mustParse(parseChainId, services.ids.next()),
      sourceScriptId,
      targetScriptId,
      on: body.on ?? 'success',
      enabled: body.enabled ?? true,
      whenBusy: body.when_busy ?? 'queue',
      paramsSha256: params.sha256,
    },
    context,
    params.content,
  );
  return accepted(outcome);
}

export interface ChainChangeCall extends Asking<Static<typeof ChainChange>> {
  readonly parameters: { readonly chain_id: ChainId };
}

export async function changeChain(
  call: ChainChangeCall,
  services: Services,
): Promise<Accepted | Problem> {
  const { body, context, parameters, principal } = call;
  const { chain_id: chainId } = parameters;
  const present = await visibleChain(principal, chainId, services);
  if (present === undefined) return notFound;
  const { target_script_id: named, on, enabled, when_busy: whenBusy } = body;
  const target =
    named === undefined ? undefined : await scriptNamed('target_script_id', named, call, services);
  if (isProblem(target)) return target;
  const isDisabling = enabled === false && Object.keys(body).length === 1;
  const scriptId = target ?? mustParse(parseScriptId, present.target_script_id);
  const denied = isDisabling ? undefined : await automationProblem(scriptId, principal, services);
  if (denied !== undefined) return denied;
  const params = await changedParams(present, target, body.params, services);
  if (isProblem(params)) return params;
  const changes: Partial<ChainSettings> = {
    ...(target !== undefined && { targetScriptId: target }),
    ...(on !== undefined && { on }),
    ...(enabled !== undefined && { enabled }),
    ...(whenBusy !== undefined && { whenBusy }),
    ...(params !== undefined && { paramsSha256: params.sha256 }),
  };
  const outcome = await services.commands.execute(
    { type: 'ChangeChain', chainId, changes },
    context,
    params?.content,
  );
  return accepted(outcome);
}

/** The parameters after a change. If the target changes, the parameters are validated against the new target's
 *  schema. */
async function changedParams(
  present: ChainView,
  target: ScriptId | undefined,
  given: object | null | undefined,
  services: Services,
): Promise<TriggerParams | undefined | Problem> {
  if (given === undefined && target === undefined) return undefined;
  const { target_script_id: before, params_sha256: sha256 } = present;
  const staying = (await readParams(services.database, [sha256])).get(sha256) as object | undefined;
  const scriptId = target ?? mustParse(parseScriptId, before);
  const wanted = given === undefined ? (staying ?? null) : given;
  return await triggerParams(scriptId, wanted, services);
}

async function scriptNamed(
  field: string,
  text: string,
  { principal }: Pick<Asking<unknown>, 'principal'>,
  { readModels }: Services,
): Promise<ScriptId | Problem> {
  const scriptId = mustParse(parseScriptId, text);
  return (await canSeeScript(principal, scriptId, readModels))
    ? scriptId
    : badField(field, 'script not found');
}
