import type { JsonValue } from '#domain/kernel/event.ts';
import { isStorable } from '#domain/kernel/json.ts';
import type { Bus } from '#domain/ports/bus.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { saveOutput, saveProgress } from '#infra/postgres/logs/run-reports.ts';
import Type from 'typebox';
import { answered, refused, sdkCall, type SdkCalls } from '../call.ts';
import { maskedFraction, maskedValue, textOf } from './json.ts';

/** Calls that report a run's output and progress. Secrets are masked as in the log. */
export function reportCalls(db: Queryable, publish: Bus['publish']): SdkCalls {
  return {
    output: sdkCall({
      arguments: Type.Object({ value: Type.Unknown() }, { additionalProperties: false }),
      handle: async ({ value }, { run, log }) => {
        const given = textOf(value);
        if (!('text' in given)) return given;
        const shown = maskedValue(value as JsonValue, (text) => log.masked(text));
        await saveOutput(db, run.runId, JSON.stringify(shown));
        publish({ topic: 'status', runId: run.runId });
        return answered();
      },
    }),
    progress: sdkCall({
      arguments: Type.Object(
        {
          fraction: Type.Number({ minimum: 0, maximum: 1 }),
          text: Type.String({ maxLength: 500 }),
        },
        { additionalProperties: false },
      ),
      handle: async ({ fraction, text }, { run, log }) => {
        if (!isStorable(text))
          return refused(
            'invalid_request',
            'The text contains a NUL character or an unpaired surrogate.',
          );
        const masked = (told: string): string => log.masked(told);
        await saveProgress(db, run.runId, {
          fraction: maskedFraction(fraction, masked),
          text: masked(text),
        });
        publish({ topic: 'progress', runId: run.runId });
        return answered();
      },
    }),
  };
}
