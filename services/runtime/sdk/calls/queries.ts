import type { JsonValue } from '#domain/kernel/event.ts';
import { isStorable } from '#domain/kernel/json.ts';
import { QueryRefused, type ScriptQueries } from '#infra/postgres/script-queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findScriptGroup } from '#projections/scripts/queries.ts';
import Type from 'typebox';
import { answered, refused, sdkCall, type SdkCalls } from '../call.ts';

/** Read-only queries over the scripts and runs of the script's own group. */
export function queryCalls(queries: ScriptQueries, reads: ReadModels): SdkCalls {
  return {
    'db.query': sdkCall({
      arguments: Type.Object(
        { sql: Type.String({ minLength: 1, maxLength: 64 * 1024 }) },
        { additionalProperties: false },
      ),
      handle: async ({ sql }, { run }) => {
        if (!isStorable(sql)) return refused('invalid_request', 'The query holds a NUL character.');
        const script = await findScriptGroup(reads, run.scriptId);
        if (script === undefined) return refused('not_found', 'The script is no longer there.');
        try {
          const lines = await queries.run(script.group_id, sql);
          return answered(lines.map((line) => JSON.parse(line) as JsonValue));
        } catch (error) {
          if (!(error instanceof QueryRefused)) throw error;
          return refused('query_failed', `${error.message}.`);
        }
      },
    }),
  };
}
