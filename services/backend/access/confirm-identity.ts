/** Re-authenticates a signed-in user. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { getCredential } from '#infra/postgres/access/credentials.ts';
import { findUser, type UserView } from '#projections/users/queries.ts';
import { isTooLong } from '#services/shared/passwords.ts';
import type { Call } from '../http/operation.ts';
import { fieldProblem, type Problem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import type { PasskeySignature } from './second-factor/passkey-schema.ts';
import { checkPasskey } from './second-factor/passkeys.ts';
import { isRightCode } from './second-factor/second-factor.ts';
import { tooMany } from './sign-in.ts';

/** A signed-in user's request. */
type SessionCall = Pick<Call, 'context' | 'ip' | 'origin'> & { readonly principal: Principal };

interface Given {
  readonly password: string;
  /** `false` skips the second factor. */
  readonly code: string | undefined | false;
  /** A passkey signature, as an alternative to the code. */
  readonly passkey?: PasskeySignature | undefined;
}

/** Checks the password and, if the account has a second factor, the code or passkey. Failed attempts count toward the
 *  sign-in limit.
 *  @returns the account, or the problem to send */
export async function confirmIdentity(
  given: Given,
  { principal, ip, context, origin }: SessionCall,
  services: Services,
): Promise<UserView | Problem> {
  const user = await findUser(services.readModels, principal.userId);
  if (user === undefined) throw new Error(`user of the session not found: ${principal.userId}`);
  let wrong: Problem | undefined;
  const admission = await services.throttle.admit(
    { email: user.email, userId: principal.userId, ip },
    async () => {
      wrong = await problemOf(user, given, { origin, context, services });
      return wrong === undefined ? 'right' : 'wrong';
    },
  );
  if (admission.kind === 'throttled') return tooMany(admission);
  return wrong ?? user;
}

async function problemOf(
  user: UserView,
  { password, code, passkey }: Given,
  { origin, context, services }: { origin: string; context: CommandContext; services: Services },
): Promise<Problem | undefined> {
  const { database, passwords } = services;
  const isPassword =
    !isTooLong(password) &&
    (await passwords.matches(password, await getCredential(database, user.credential_id)));
  if (!isPassword) return fieldProblem('current_password', 'is not your current password');
  const { second_factor: factor } = user;
  if (code === false || factor === null) return undefined;
  const owner = { ...user, second_factor: factor };
  if (passkey !== undefined) {
    const reason = await checkPasskey(owner, passkey, { origin, context, services });
    return reason === undefined ? undefined : fieldProblem('passkey', reason);
  }
  if (code === undefined) return fieldProblem('code', 'is required');
  const isCode = await isRightCode(owner, code, { context, services });
  return isCode
    ? undefined
    : fieldProblem('code', 'is not a current code or an unused recovery code');
}
