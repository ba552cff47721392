import type { ScriptId } from '#domain/kernel/ids.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { createGroup, createScript } from '#domain/testing/samples.ts';
import type { Platform } from '#services/shared/platform.ts';
import { context } from './context.ts';

/** Creates a script with a limit of a thousand concurrent runs. @returns its ID */
export async function makeScript(platform: Platform, scriptId: ScriptId): Promise<ScriptId> {
  const settings = { ...defaultSettings, maxConcurrentRuns: 1_000 };
  for (const command of [createGroup(), createScript({ scriptId, settings })]) {
    const outcome = await platform.commands.execute(command, context());
    if (outcome.kind !== 'accepted') throw new Error(`${command.type} was not accepted`);
  }
  return scriptId;
}
