import type { JsonValue } from '#domain/kernel/event.ts';
import { isStorable } from '#domain/kernel/json.ts';
import { QueryRefused } from '#infra/postgres/script-queries/query-answer.ts';
import type { ScriptQueries } from '#infra/postgres/script-queries/script-queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findScriptGroup } from '#projections/scripts/queries.ts';
import Type from 'typebox';
import {
  answered,
  refused,
  sdkCall,
  type SdkAnswer,
  type SdkCalls,
  type SdkContext,
} from '../call.ts';

/** Read-only queries about scripts and runs in the script's own group. A run can execute one query at a time, so
 *  that no run delays the others. */
export function queryCalls(queries: ScriptQueries, reads: ReadModels): SdkCalls {
  const lastOf = new WeakMap<SdkContext, Promise<unknown>>();
  const answerTo = async (sql: string, { run }: SdkContext): Promise<SdkAnswer> => {
    const script = await findScriptGroup(reads, run.scriptId);
    if (script === undefined) return refused('not_found', 'The script no longer exists.');
    try {
      const lines = await queries.run(script.group_id, sql);
      return answered(lines.map((line) => JSON.parse(line) as JsonValue));
    } catch (error) {
      if (!(error instanceof QueryRefused)) throw error;
      const isScripts = error.outcome === 'failed' || error.outcome === 'timeout';
      return refused(isScripts ? 'query_failed' : 'unavailable', `${error.message}.`);
    }
  };
  return {
    'db.query': sdkCall({
      arguments: Type.Object(
        { sql: Type.String({ minLength: 1, maxLength: 64 * 1024 }) },
        { additionalProperties: false },
      ),
      handle: async ({ sql }, context) => {
        if (!isStorable(sql))
          return refused(
            'invalid_request',
            'The query contains a NUL character or an unpaired surrogate.',
          );
        const answer = (lastOf.get(context) ?? Promise.resolve()).then(() =>
          answerTo(sql, context),
        );
        lastOf.set(
          context,
          answer.catch(() => undefined),
        );
        return await answer;
      },
    }),
  };
}
