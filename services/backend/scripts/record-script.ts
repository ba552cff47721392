/** Creates a script with files from any source. */
import { mustParse, parseScriptId, type ScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { CreateScript } from '#domain/script/commands.ts';
import { accepted, refusalProblem, type Accepted } from '../http/outcome.ts';
import { isProblem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';

export interface RecordedScript {
  readonly scriptId: ScriptId;
  readonly outcome: Accepted;
}

/** Checks first, then stores the files, then records the script. A refused script leaves nothing behind.
 *  @param contentOf the content of a hash; called once per hash */
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
  // For a repeated request, this is the script of the first one, which has another ID.
  const scriptId = mustParse(parseScriptId, outcome.streamId.slice('script-'.length));
  return { scriptId, outcome };
}
