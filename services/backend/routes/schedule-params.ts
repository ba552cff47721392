/** What a schedule gives to its runs: JSON by hash, as the parameters of runs are. */
import { createHash } from 'node:crypto';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { maxParamsBytes } from '../schemas/run.ts';
import type { Services } from '../services.ts';
import { paramsProblem } from './queue-run.ts';

export interface ScheduleParams {
  readonly sha256: string | null;
  /** To be kept before anything refers to it. */
  readonly content: Uint8Array | undefined;
}

/** @param params `null` for none
 *  @returns a problem where they do not match what the script takes */
export async function scheduleParams(
  scriptId: ScriptId,
  params: object | null,
  services: Services,
): Promise<ScheduleParams | Problem> {
  const script = await services.findRunnable(scriptId);
  if (script === undefined) return notFound;
  const content = params === null ? undefined : Buffer.from(JSON.stringify(params));
  if (content !== undefined && content.length > maxParamsBytes) return tooLarge;
  const mismatch = await paramsProblem(script, params ?? undefined, services);
  if (isProblem(mismatch)) return mismatch;
  const sha256 = content === undefined ? null : createHash('sha256').update(content).digest('hex');
  return { sha256, content };
}

const tooLarge = problem(
  'payload_too_large',
  `The parameters may have ${maxParamsBytes} bytes of JSON at most.`,
);
