/** Sets the password of an account. */
import { parseUserId, mustParse, type SessionId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { putCredential } from '#infra/postgres/access/credentials.ts';
import type { UserView } from '#projections/users/queries.ts';
import { passwordProblem } from '#services/shared/password-rules.ts';
import { accepted, type Accepted } from '../http/outcome.ts';
import { problem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';

export interface PasswordChange {
  readonly user: UserView;
  readonly password: string;
  /** The session to keep. */
  readonly keep?: SessionId;
}

/** @param detail the reason as a sentence */
export function unusablePassword(pointer: string, detail: string): Problem {
  return problem('validation_failed', detail, { errors: [{ pointer, detail }] });
}

/** Changes an account's password, which ends all sessions except `keep`. */
export async function changePassword(
  { user, password, keep }: PasswordChange,
  context: CommandContext,
  services: Services,
): Promise<Accepted | Problem> {
  const unusable = passwordProblem(password, user);
  if (unusable !== undefined)
    return unusablePassword(keep ? '/new_password' : '/password', unusable);
  const { commands, database, ids, passwords } = services;
  const credentialId = ids.next();
  const userId = mustParse(parseUserId, user.user_id);
  await putCredential(database, credentialId, await passwords.hash(password));
  const kept = keep && { keptSessionId: keep };
  const command = { type: 'ChangeUserPassword', userId, credentialId, ...kept } as const;
  return accepted(await commands.execute(command, context));
}
