/** Edits scripts. An edit of a protected script becomes a request for approval. */
import { mustParse, parseChangeId, type ChangeId, type ScriptId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Edit, EditScript } from '#domain/script/commands.ts';
import { findPendingChange } from '#projections/approvals/queries.ts';
import type { ReadModels } from '#projections/projection.ts';
import { approvalRequest } from '#services/shared/approval-requests.ts';
import { accepted, type Accepted } from '../http/outcome.ts';
import { isProblem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';

interface EditingDeps {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The command that applies edits, or requests an approval for them.
 *  @param expectedVersion the version that the caller has seen */
export function editOf(
  scriptId: ScriptId,
  edits: readonly Edit[],
  expectedVersion: number | undefined,
  context: CommandContext,
  { clock, ids }: EditingDeps,
): EditScript {
  const changeId = mustParse(parseChangeId, ids.next());
  return {
    type: 'EditScript',
    scriptId,
    edits,
    approval: { ...approvalRequest(context, clock), changeId },
    ...(expectedVersion !== undefined && { expectedVersion }),
  };
}

export interface Edited {
  readonly outcome: Accepted;
  /** The requested change, which waits for an approval; `undefined` if the edits are applied. */
  readonly changeId: ChangeId | undefined;
}

/** Applies edits, or requests an approval for them. */
export async function executeEdit(
  command: EditScript,
  context: CommandContext,
  { commands, readModels }: Pick<Services, 'commands' | 'readModels'>,
): Promise<Edited | Problem> {
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  return { outcome, changeId: await requestedChange(outcome, command, readModels) };
}

/** The ID of the requested change. If this request repeats an earlier one and so records no event, this is the pending
 *  change of the caller. */
async function requestedChange(
  { events }: Accepted,
  { scriptId, edits, approval: { requestedBy } }: EditScript,
  readModels: ReadModels,
): Promise<ChangeId | undefined> {
  for (const event of events) {
    if (event.type === 'ScriptChangeRequested' || event.type === 'ScriptChangeRevised') {
      return event.data.changeId;
    }
  }
  const isOfFiles = edits.some(({ type }) => type !== 'ChangeScript');
  if (events.length > 0 || requestedBy === null || !isOfFiles) return undefined;
  return await findPendingChange(readModels, scriptId, requestedBy);
}
