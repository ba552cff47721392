/** Creates a script with files from any source. */
import { parseScriptId, type ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { CreateScript } from '#domain/script/commands.ts';
import { type Accepted, accepted, refusalProblem, writtenId } from '../http/outcome.ts';
import { isProblem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';

export interface RecordedScript {
  readonly scriptId: ScriptId;
  readonly outcome: Accepted;
}

/** Checks the command, stores the files, and then records the script. If the script is refused, nothing is stored.
 *  @param contentOf returns the content with this hash; called once per hash */
export async function recordScript(
  command: CreateScript,
  contentOf: (sha256: string) => Promise<AsyncIterable<Uint8Array>>,
  context: CommandContext,
  { commands, objects }: Pick<Services, 'commands' | 'objects'>,
): Promise<RecordedScript | Problem> {
  const refusal = await commands.check(command);
  if (refusal !== undefined) return refusalProblem(refusal);
  for (const sha256 of new Set(command.files.map((file) => file.sha256))) {
    const key = objectKey.scriptBlob(command.scriptId, sha256);
    await objects.putStream(key, await contentOf(sha256));
  }
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  const scriptId = writtenId(outcome, parseScriptId);
  return { scriptId, outcome };
}
