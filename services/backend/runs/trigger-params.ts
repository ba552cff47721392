/** The parameters that a schedule or chain passes to its runs. They are stored as JSON under their hash, like the
 *  parameters of runs. */
import { createHash } from 'node:crypto';
import type { ScriptId } from '#domain/kernel/ids.ts';
import { maxParamsBytes } from '#domain/run/run.ts';
import { readParams } from '#infra/postgres/operations/params.ts';
import { paramsObjection, paramsTooLarge } from '#services/shared/run-requests.ts';
import { isProblem, notFound, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';

export interface TriggerParams {
  readonly sha256: string | null;
  /** The content, which must be stored before the hash is used; undefined without parameters. */
  readonly content: Uint8Array | undefined;
}

/** Validates and hashes parameters.
 *  @param params `null` for none
 *  @returns a problem if they do not match the schema of the script */
export async function triggerParams(
  scriptId: ScriptId,
  params: object | null,
  services: Services,
): Promise<TriggerParams | Problem> {
  const script = await services.findRunnable(scriptId);
  if (script === undefined) return notFound;
  const content = params === null ? undefined : Buffer.from(JSON.stringify(params));
  if (content !== undefined && content.length > maxParamsBytes) return paramsTooLarge;
  const mismatch = await paramsObjection(script, params ?? undefined, services);
  if (isProblem(mismatch)) return mismatch;
  const sha256 = content === undefined ? null : createHash('sha256').update(content).digest('hex');
  return { sha256, content };
}

/** Reads the parameters of schedules or chains in one query.
 *  @returns a function that renders a row together with its parameters */
export async function viewWithParams<Row extends { readonly params_sha256: string | null }, View>(
  rows: readonly Row[],
  view: (row: Row, params: unknown) => View,
  { database }: Pick<Services, 'database'>,
): Promise<(row: Row) => View> {
  const params = await readParams(
    database,
    rows.map((row) => row.params_sha256),
  );
  return (row) => view(row, params.get(row.params_sha256));
}
