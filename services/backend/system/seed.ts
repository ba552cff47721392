/** Creates the initial data of an installation: four groups, examples and the first administrator. IDs are derived
 *  from names, so that seeding is idempotent, even if processes seed concurrently. */
import type { Command } from '#domain/aggregates.ts';
import { seededGroups } from '#domain/group/seed.ts';
import { mustParse, parseUserId } from '#domain/kernel/ids.ts';
import { emailProblem } from '#domain/kernel/names.ts';
import { systemContext } from '#domain/ports/commands.ts';
import { putCredential } from '#infra/postgres/access/credentials.ts';
import { findUserByEmail, listUsers } from '#projections/users/queries.ts';
import { ConfigError } from '#services/shared/config.ts';
import { passwordProblem } from '#services/shared/password-rules.ts';
import type { Services } from '../services.ts';
import { makeExamples } from './examples.ts';

export interface FirstAdministrator {
  readonly email: string;
  readonly password: string;
}

const noAdministrator =
  'ORCH_ADMIN_PASSWORD is missing: expected a password of 8 to 72 characters for the first ' +
  'administrator, because no account exists yet';

/** @param administrator the account to create if none exists; `undefined` creates none
 *  @param withExamples whether to create examples with the administrator, so that a new installation shows a working
 *  script
 *  @throws ConfigError if no user could sign in to the production edition, or the email address or password is invalid
 *  @throws if a command is refused */
export async function seed(
  services: Services,
  administrator: FirstAdministrator | undefined,
  withExamples: boolean,
): Promise<void> {
  for (const group of seededGroups) {
    await executeOnce({ type: 'CreateGroup', ...group }, `group ${group.groupId}`, services);
  }
  const isFirst = (await listUsers(services.readModels, undefined, 1)).length === 0;
  if (!isFirst) return;
  if (administrator === undefined) {
    if (services.edition === 'production') throw new ConfigError([noAdministrator]);
    return;
  }
  // The examples are created before the administrator. After a crash in between, no account exists, so seeding starts
  // again.
  if (withExamples) {
    await makeExamples(services, (command, cause) => executeOnce(command, cause, services));
  }
  await createAdministrator(administrator, services);
}

async function createAdministrator(
  { email, password }: FirstAdministrator,
  services: Services,
): Promise<void> {
  const unusable = passwordProblem(password, { email }) ?? emailProblem(email.toLowerCase());
  if (unusable !== undefined)
    throw new ConfigError([`The first administrator cannot be created. ${unusable}`]);
  const { database, ids, passwords, readModels } = services;
  const address = email.toLowerCase();
  const cause = `first administrator ${address}`;
  const credentialId = ids.derived(cause, 'credential');
  await putCredential(database, credentialId, await passwords.hash(password));
  const command: Command = {
    type: 'CreateUser',
    userId: mustParse(parseUserId, ids.derived(cause, 'user')),
    email: address,
    name: 'Administrator',
    role: 'administrator',
    groupIds: seededGroups.map((group) => group.groupId),
    canAudit: true,
    credentialId,
  };
  // Ignores conflicts, because another backend may be starting concurrently.
  if ((await findUserByEmail(readModels, address)) === undefined) {
    await executeOnce(command, cause, services);
  }
}

/** Executes a command at most once for the given cause, even with repeated or concurrent calls. */
export async function executeOnce(
  command: Command,
  cause: string,
  services: Services,
): Promise<void> {
  const { commands, ids } = services;
  const outcome = await commands.execute(command, {
    ...systemContext('setup', ids.derived('seed', cause)),
    fingerprint: cause,
  });
  if (outcome.kind !== 'accepted') throw new Error(`initial data was rejected: ${cause}`);
}
