/** Edits scripts. An edit of a protected script becomes an approval request. */
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

/** Creates the command that applies the edits or requests approval for them.
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
  /** The change that awaits approval; `undefined` if the edits were applied. */
  readonly changeId: ChangeId | undefined;
}

/** Applies edits, or requests approval for them. */
export async function executeEdit(
  command: EditScript,
  context: CommandContext,
  { commands, readModels }: Pick<Services, 'commands' | 'readModels'>,
): Promise<Edited | Problem> {
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  return { outcome, changeId: await requestedChange(outcome, command, readModels) };
}

/** Returns the ID of the requested change. If this request repeats an earlier one, it records no event, and the ID
 *  is that of the caller's pending change. */
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
