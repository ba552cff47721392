import { maxChainDepth } from '#domain/chain/chain.ts';
import { parseScriptId } from '#domain/kernel/ids.ts';
import { systemContext } from '#domain/ports/commands.ts';
import { busyChoices } from '#domain/run/run.ts';
import type { ReadModels } from '#projections/projection.ts';
import { causeDepth } from '#projections/runs/cause-depth.ts';
import { findRunnableScripts, findScriptGroup } from '#projections/scripts/queries.ts';
import type { Objection } from '#services/shared/faults.ts';
import { requestRun, type RunRequestDeps } from '#services/shared/run-requests.ts';
import Type from 'typebox';
import { answered, holdsSecret, refused, sdkCall, type SdkAnswer, type SdkCalls } from '../call.ts';
import { textOf } from './json.ts';

export interface RunCallsDeps extends RunRequestDeps {
  readonly reads: ReadModels;
}

/** Calls that start runs of scripts in the same group, including the calling script. */
export function runCalls(deps: RunCallsDeps): SdkCalls {
  const { reads, ids } = deps;
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
      handle: async (given, context) => {
        const { run } = context;
        const scriptId = parseScriptId(given.script_id);
        if (scriptId === undefined) return noScript;
        const [own, found] = await Promise.all([
          findScriptGroup(reads, run.scriptId),
          findRunnableScripts(reads, [scriptId]),
        ]);
        const script = found.get(scriptId);
        if (script === undefined || own?.group_id !== script.group_id) return noScript;
        if ((await causeDepth(reads, run.runId, maxChainDepth)) >= maxChainDepth) {
          return refused(
            'refused',
            `A series of runs that start one another may have at most ${maxChainDepth} runs.`,
          );
        }
        const params = given.params ?? undefined;
        const text = params === undefined ? undefined : textOf(params);
        if (text !== undefined && !('text' in text)) return text;
        if (text !== undefined && holdsSecret(context, text.text)) return secretParams;
        const outcome = await requestRun(
          {
            script,
            params,
            trigger: { type: 'event', cause: 'script', runId: run.runId },
            timeoutSeconds: null,
            whenBusy: given.when_busy,
            context: systemContext('runtime', ids.next(), run.correlationId),
          },
          deps,
        );
        switch (outcome.kind) {
          case 'accepted':
            return answered({ run_id: outcome.streamId.slice('run-'.length) });
          case 'refused':
            return refused('refused', outcome.refusal.detail);
          case 'problem':
            return refusalOf(outcome);
          case 'mismatched':
            throw new Error('command id already used');
        }
      },
    }),
  };
}

const noScript = refused('not_found', 'The group does not contain this script.');

const secretParams = refused(
  'invalid_request',
  'The parameters contain a secret, and parameters are visible with the run. Set the secret on the ' +
    'other script instead.',
);

/** Returns the refusal for parameters that do not match the other script's schema. */
function refusalOf({ code, detail, errors }: Objection): SdkAnswer {
  switch (code) {
    case 'validation_failed': {
      const faults = errors?.map((fault) => `${fault.pointer.slice(1)} ${fault.detail}`);
      return refused('invalid_request', faults === undefined ? detail : `${faults.join('; ')}.`);
    }
    case 'payload_too_large':
      return refused('limit_reached', detail);
    case 'not_found':
    case 'unavailable':
      return refused(code, detail);
  }
}
