/** `admin reset-password`: restores access to an account. */
import type { Command as DomainCommand } from '#domain/aggregates.ts';
import { mustParse, parseCommandId, parseUserId } from '#domain/kernel/ids.ts';
import { CommandPipeline } from '#infra/postgres/commands/command-pipeline.ts';
import { putCredential } from '#infra/postgres/access/credentials.ts';
import { queryBuilder } from '#infra/postgres/database.ts';
import { refuseOutdatedRows } from '#infra/postgres/rebuild/projection-versions.ts';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { inlineProjections } from '#projections/registry.ts';
import type { Tables } from '#projections/tables.ts';
import { findUserByEmail } from '#projections/users/queries.ts';
import { decisionReads } from '#projections/decision-reads.ts';
import { passwordProblem } from '#services/shared/password-rules.ts';
import { bcryptPasswords, passwordCost } from '#services/shared/passwords.ts';
import type pg from 'pg';
import { CommandProblem, exitCodes, usageProblem } from './problem.ts';
import type { Terminal } from './terminal.ts';

export interface NewPassword {
  readonly email: string;
  readonly password: string;
  /** Lets in an account that is disabled. */
  readonly enable: boolean;
}

/** Gives an account another password, which ends its sessions. Backends notice within seconds.
 *  @param pool connections as the schema's owner
 *  @throws CommandProblem where there is no such account, or the password cannot be used */
export async function giveNewPassword(
  pool: pg.Pool,
  { email, password, enable }: NewPassword,
  terminal: Pick<Terminal, 'line'>,
): Promise<void> {
  await refuseOutdatedRows(pool, inlineProjections);
  const user = await findUserByEmail(queryBuilder<Tables>(pool), email.trim().toLowerCase());
  if (user === undefined) {
    throw new CommandProblem(exitCodes.notFound, `No account has the e-mail address ${email}.`);
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
  const commands = new CommandPipeline({
    pool,
    clock: systemClock,
    ids: systemIds,
    projections: inlineProjections,
    decisionReads,
    // Subscribers poll within seconds.
    announce: () => undefined,
  });
  return async (command: DomainCommand): Promise<void> => {
    const commandId = mustParse(parseCommandId, systemIds.next());
    const actor = { kind: 'system', name: 'console' } as const;
    const context = { commandId, actor, ip: null, correlationId: commandId, causationId: null };
    const outcome = await commands.execute(command, context);
    if (outcome.kind === 'accepted') return;
    const detail =
      outcome.kind === 'refused' ? outcome.refusal.detail : 'The command was repeated.';
    throw new CommandProblem(exitCodes.refused, detail);
  };
}
