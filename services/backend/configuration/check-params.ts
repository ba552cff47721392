/** Validates the parameters that schedules and chains in a document pass to runs. */
import { maxParamsBytes } from '#domain/run/run.ts';
import { paramsObjection, paramsTooLarge } from '#services/shared/run-requests.ts';
import type { Problem } from '../http/problem.ts';
import type { Reading } from './kind.ts';

/** The problem with parameters that do not match the script's schema in the document. */
export async function paramsProblem(
  scriptId: string,
  params: object | null,
  { services, schemaOf }: Reading,
): Promise<Problem | undefined> {
  if (Buffer.byteLength(JSON.stringify(params)) > maxParamsBytes) return paramsTooLarge;
  const script = { parameters_schema: schemaOf(scriptId) };
  return await paramsObjection(script, params ?? undefined, services);
}
