/** Implements `admin reset-password`, which restores access to an account. */
import type { Command as DomainCommand } from '#domain/aggregates.ts';
import { mustParse, parseUserId } from '#domain/kernel/ids.ts';
import { systemContext } from '#domain/ports/commands.ts';

import { putCredential } from '#infra/postgres/access/credentials.ts';
import { queryBuilder } from '#infra/postgres/database.ts';
import { refuseOutdatedRows } from '#infra/postgres/rebuild/projection-versions.ts';

import { systemIds } from '#infra/system/ids.ts';
import { inlineProjections } from '#projections/registry.ts';
import type { Tables } from '#projections/tables.ts';
import { findUserByEmail } from '#projections/users/queries.ts';

import { passwordProblem } from '#services/shared/password-rules.ts';
import { bcryptPasswords, passwordCost } from '#services/shared/passwords.ts';
import type pg from 'pg';
import { commandsOn } from './commands-on.ts';
import { CommandProblem, exitCodes, usageProblem } from './problem.ts';
import type { Terminal } from './terminal.ts';

export interface NewPassword {
  readonly email: string;
  readonly password: string;
  /** Whether to enable the account if it is disabled. */
  readonly enable: boolean;
}

/** Sets a new password, which ends the account's sessions. Backends apply the change within seconds.
 *  @param pool connected as the schema's owner
 *  @throws CommandProblem if the account does not exist, or the password is not valid */
export async function resetPasswordOf(
  pool: pg.Pool,
  { email, password, enable }: NewPassword,
  terminal: Pick<Terminal, 'line'>,
): Promise<void> {
  await refuseOutdatedRows(pool, inlineProjections);
  const user = await findUserByEmail(queryBuilder<Tables>(pool), email.trim().toLowerCase());
  if (user === undefined) {
    throw new CommandProblem(exitCodes.notFound, `No account has the email address ${email}.`);
  }
  const unusable = passwordProblem(password, user);
  if (unusable !== undefined) throw usageProblem(unusable);
  const userId = mustParse(parseUserId, user.user_id);
  const credentialId = systemIds.next();
  await putCredential(pool, credentialId, await bcryptPasswords(passwordCost).hash(password));
  const execute = carrierOn(pool);
  await execute({ type: 'ChangeUserPassword', userId, credentialId });
  terminal.line(
    `Password of ${user.email} changed. Its sessions have ended; its API tokens stay valid.`,
  );
  if (user.disabled && enable) {
    await execute({ type: 'ChangeUser', userId, changes: { disabled: false } });
    terminal.line('The account was disabled and is now enabled.');
  } else if (user.disabled) {
    terminal.line('The account is disabled and cannot sign in. Add --enable to enable it.');
  }
}

function carrierOn(pool: pg.Pool) {
  const commands = commandsOn(pool);
  return async (command: DomainCommand): Promise<void> => {
    const outcome = await commands.execute(command, systemContext('console', systemIds.next()));
    if (outcome.kind === 'accepted') return;
    const detail =
      outcome.kind === 'refused' ? outcome.refusal.detail : 'The command was repeated.';
    throw new CommandProblem(exitCodes.refused, detail);
  };
}
