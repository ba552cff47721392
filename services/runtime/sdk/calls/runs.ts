import { known, parseCommandId, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { busyChoices } from '#domain/run/run.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { putPayload } from '#infra/postgres/payloads.ts';
import type { ReadModels } from '#projections/projection.ts';
import { callDepth } from '#projections/runs/call-depth.ts';
import { findScriptGroup } from '#projections/scripts/queries.ts';
import Type from 'typebox';
import { answered, refused, sdkCall, type SdkCalls } from '../call.ts';
import { contextOf } from './context.ts';
import { textOf } from './json.ts';

/** Runs that ask for runs that ask for runs. */
const maxDepth = 16;

export interface RunCallsParts {
  readonly database: Queryable;
  readonly reads: ReadModels;
  readonly commands: Commands;
  readonly ids: Ids;
}

/** Runs of scripts of the same group, that own script among them. */
export function runCalls({ database, reads, commands, ids }: RunCallsParts): SdkCalls {
  return {
    run: sdkCall({
      arguments: Type.Object(
        {
          script_id: Type.String({ maxLength: 36 }),
          params: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
          when_busy: Type.Enum([...busyChoices]),
        },
        { additionalProperties: false },
      ),
      handle: async (given, { run }) => {
        const scriptId = parseScriptId(given.script_id);
        if (scriptId === undefined) return noScript;
        const [own, other] = await Promise.all([
          findScriptGroup(reads, run.scriptId),
          findScriptGroup(reads, scriptId),
        ]);
        if (other === undefined || own?.group_id !== other.group_id) return noScript;
        if ((await callDepth(reads, run.runId, maxDepth)) >= maxDepth) {
          return refused('refused', `Runs that ask for runs end after ${maxDepth}.`);
        }
        const params = given.params === null ? undefined : textOf(given.params);
        if (params !== undefined && !('text' in params)) return params;
        const runId = known(parseRunId, ids.next());
        const outcome = await commands.execute(
          {
            type: 'RunScript',
            runId,
            scriptId,
            trigger: { type: 'event', cause: 'script', runId: run.runId },
            paramsSha256:
              params === undefined ? null : await putPayload(database, Buffer.from(params.text)),
            timeoutSeconds: null,
            whenBusy: given.when_busy,
          },
          contextOf(run, known(parseCommandId, ids.next())),
        );
        switch (outcome.kind) {
          case 'accepted':
            return answered({ run_id: runId });
          case 'refused':
            return refused('refused', outcome.refusal.detail);
          case 'mismatched':
            throw new Error('a command of its own id was there before');
        }
      },
    }),
  };
}

const noScript = refused('not_found', 'There is no such script in the group.');
