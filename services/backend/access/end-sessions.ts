/** Ends every session of a user. */
import {
  mustParse,
  parseCommandId,
  parseSessionId,
  type SessionId,
  type UserId,
} from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { oldestValid } from '#infra/postgres/access/session-tokens.ts';
import { listOpenSessions } from '#projections/sessions/queries.ts';
import { refusalProblem } from '../http/outcome.ts';
import type { Problem } from '../http/problem.ts';
import { nothing, type Reply } from '../http/reply.ts';
import type { Services } from '../services.ts';

interface WhoseSessions {
  readonly userId: UserId;
  /** The session to keep. */
  readonly keep?: SessionId | undefined;
}

/** Ends the user's existing sessions, one page at a time. Sessions that start in the meantime are unaffected. */
export async function endSessions(
  { userId, keep }: WhoseSessions,
  context: CommandContext,
  { clock, commands, ids, readModels }: Services,
): Promise<Reply | Problem> {
  let position: number | undefined;
  for (;;) {
    const open = await listOpenSessions(readModels, userId, oldestValid(clock.now()));
    const ending = open.filter((one) => one.session_id !== keep);
    if (ending.length === 0) break;
    const outcome = await commands.executeAll(
      ending.map(({ session_id: id }) => ({
        command: {
          type: 'CloseSession',
          sessionId: mustParse(parseSessionId, id),
          reason: 'revoked',
        },
        context: { ...context, commandId: mustParse(parseCommandId, ids.next()) },
      })),
    );
    if (outcome.kind === 'refused') return refusalProblem(outcome.refusal);
    const positions = outcome.outcomes.map((one) => one.position.globalPosition);
    position = Math.max(...positions);
  }
  return nothing(204, position === undefined ? {} : { 'Orch-Position': String(position) });
}
