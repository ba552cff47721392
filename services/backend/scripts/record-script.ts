/** Records a script that starts with files, whose bytes come from wherever they are. */
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

/** Checks first, then stores the files, then records: a refused script leaves nothing behind.
 *  @param contentOf the bytes of the file with this hash; asked once for each hash */
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
  // A repeated request made its script the first time, under another id.
  const scriptId = mustParse(parseScriptId, outcome.streamId.slice('script-'.length));
  return { scriptId, outcome };
}
