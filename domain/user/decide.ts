import type { Aggregate, DecisionReads } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import { emailProblem, newNameProblem } from '#domain/kernel/names.ts';
import { pickChanges } from '#domain/kernel/pick-changes.ts';
import type { AddPasskey, ChangeUser, RenamePasskey, UsePasskey, UserCommand } from './commands.ts';
import type { Identity, SecondFactor, UserEvent, UserSettings } from './events.ts';
import { evolveUser, initialUser, passkeysOf, type UserState } from './state.ts';

export interface UserDecisionFacts {
  readonly emailTaken: boolean;
  /** Whether another user is an enabled administrator. */
  readonly otherAdministrator: boolean;
  /** Whether the identity in the command is already linked to another account. */
  readonly identityTaken: boolean;
  /** Whether the data key of the second factor still exists. True for commands that contain no second factor. */
  readonly keyExists: boolean;
}

export function decideUser(
  state: UserState,
  command: UserCommand,
  facts: UserDecisionFacts,
): Decision<UserEvent> {
  if (command.type === 'CreateUser') {
    if (state.status !== 'absent') return accept();
    const unusable = emailProblem(command.email) ?? newNameProblem('name', command.name);
    if (unusable !== undefined) return refuse('validation_failed', unusable);
    if (facts.emailTaken)
      return refuse('already_exists', 'Another account already uses this email address.');
    if (facts.identityTaken) return identityTaken;
    const { type: _, ...data } = command;
    return accept({ type: 'UserCreated', data });
  }
  if (state.status === 'absent') return refuse('not_found', 'Account not found.');
  const { userId } = command;
  switch (command.type) {
    case 'ChangeUser':
      return change(state.settings, command, facts);
    case 'ChangeUserPassword': {
      if (command.credentialId === state.credentialId) return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'UserPasswordChanged', data });
    }
    case 'LeaveGroup': {
      const groupIds = state.settings.groupIds.filter((id) => id !== command.groupId);
      if (groupIds.length === state.settings.groupIds.length) return accept();
      return accept({ type: 'UserChanged', data: { userId, groupIds } });
    }
    case 'LinkIdentity': {
      const { type: _, ...data } = command;
      const { userId: _user, ...identity } = data;
      if (isSameJson(identityAt(state.identities, command), identity)) return accept();
      if (facts.identityTaken) return identityTaken;
      return accept({ type: 'UserIdentityLinked', data });
    }
    case 'UnlinkIdentity': {
      const { type: _, ...data } = command;
      if (identityAt(state.identities, command) === undefined) return accept();
      return accept({ type: 'UserIdentityUnlinked', data });
    }
    case 'EnableSecondFactor': {
      if (state.secondFactor?.sealed !== undefined) return factorEnabled;
      if (!facts.keyExists || !isFirstAsExpected(state.secondFactor, command)) return conflict;
      const { type: _, ...data } = command;
      return accept({ type: 'SecondFactorEnabled', data });
    }
    case 'DisableSecondFactor':
      if (state.secondFactor === undefined) return accept();
      return accept({ type: 'SecondFactorDisabled', data: { userId } });
    case 'ReplaceRecoveryCodes': {
      if (state.secondFactor === undefined) return noFactor;
      if (isSameJson(state.secondFactor.recoveryHashes, command.recoveryHashes)) return accept();
      const { type: _, ...data } = command;
      return accept({ type: 'RecoveryCodesReplaced', data });
    }
    case 'UseRecoveryCode': {
      const { recoveryHash } = command;
      if (state.secondFactor?.recoveryHashes.includes(recoveryHash) !== true) return noCode;
      return accept({ type: 'RecoveryCodeUsed', data: { userId, recoveryHash } });
    }
    case 'AddPasskey':
      return addPasskey(state.secondFactor, command);
    case 'RemovePasskey': {
      const { passkeyId } = command;
      if (!passkeysOf(state.secondFactor).some((one) => one.passkeyId === passkeyId))
        return accept();
      return accept({ type: 'PasskeyRemoved', data: { userId, passkeyId } });
    }
    case 'RenamePasskey':
      return renamePasskey(state.secondFactor, command);
    case 'UsePasskey':
      return applyPasskey(state.secondFactor, command);
  }
}

const maxPasskeys = 20;

function addPasskey(factor: SecondFactor | undefined, command: AddPasskey): Decision<UserEvent> {
  const { type: _, ...data } = command;
  const passkeys = passkeysOf(factor);
  if (passkeys.some((one) => one.passkeyId === command.passkeyId)) return accept();
  const unusable = newNameProblem('name', command.name);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  if (passkeys.some((one) => one.webauthnId === command.webauthnId)) return passkeyExists;
  if (passkeys.length >= maxPasskeys) return tooManyPasskeys;
  if (!isFirstAsExpected(factor, command)) return conflict;
  return accept({ type: 'PasskeyAdded', data });
}

function renamePasskey(
  factor: SecondFactor | undefined,
  { type: _, ...data }: RenamePasskey,
): Decision<UserEvent> {
  const passkey = passkeysOf(factor).find((one) => one.passkeyId === data.passkeyId);
  if (passkey === undefined) return noPasskey;
  if (passkey.name === data.name) return accept();
  const unusable = newNameProblem('name', data.name);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  return accept({ type: 'PasskeyRenamed', data });
}

/** Recovery codes are issued only when the first second factor is added. */
function isFirstAsExpected(
  factor: SecondFactor | undefined,
  { recoveryHashes }: Pick<SecondFactor, 'recoveryHashes'>,
): boolean {
  return (factor === undefined) === recoveryHashes.length > 0;
}

/** If the counter does not increase, the passkey may have been copied (WebAuthn §6.1.1). Passkeys without a counter
 *  send 0. */
function applyPasskey(
  factor: SecondFactor | undefined,
  { userId, passkeyId, counter }: UsePasskey,
): Decision<UserEvent> {
  const passkey = passkeysOf(factor).find((one) => one.passkeyId === passkeyId);
  if (passkey === undefined) return noPasskey;
  const isCurrent = counter > passkey.counter || (counter === 0 && passkey.counter === 0);
  const data = { userId, passkeyId, counter };
  return accept({ type: isCurrent ? 'PasskeyUsed' : 'PasskeyUseRefused', data });
}

const factorEnabled = refuse(
  'already_exists',
  'A second factor is already enabled. Disable it first.',
);
const conflict = refuse('version_mismatch', 'The account was changed at the same time. Try again.');
const noFactor = refuse('not_found', 'No second factor is enabled.');
const noCode = refuse('not_found', 'The recovery code is unknown or was already used.');

const passkeyExists = refuse('already_exists', 'The account already has this passkey.');
const tooManyPasskeys = refuse(
  'validation_failed',
  `An account may have at most ${maxPasskeys} passkeys. Remove one first.`,
);
const noPasskey = refuse('not_found', 'The account has no such passkey.');

const identityTaken = refuse(
  'already_exists',
  'Another account is linked to this identity. Unlink that account first.',
);

function identityAt(
  identities: readonly Identity[],
  { identityProviderId }: Pick<Identity, 'identityProviderId'>,
): Identity | undefined {
  return identities.find((one) => one.identityProviderId === identityProviderId);
}

function change(
  present: UserSettings,
  { userId, changes: wanted }: ChangeUser,
  { otherAdministrator }: UserDecisionFacts,
): Decision<UserEvent> {
  const changes = pickChanges(present, wanted);
  if (Object.keys(changes).length === 0) return accept();
  const unusable = newNameProblem('name', changes.name);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  if (administers(present) && !administers({ ...present, ...changes }) && !otherAdministrator) {
    const detail = 'At least one administrator is required. Promote another user first.';
    return refuse('last_administrator', detail);
  }
  return accept({ type: 'UserChanged', data: { userId, ...changes } });
}

function administers({ role, disabled }: UserSettings): boolean {
  return role === 'administrator' && !disabled;
}

/** A lock that commands hold while they demote or disable an administrator. Its stream contains no events. */
const administrators = 'user-administrators';

/** A lock that commands hold while they link an identity. Its stream contains no events. */
const identities = 'user-identities';

function guardsOf(command: UserCommand): readonly StreamId[] {
  if (command.type === 'ChangeUser') return [administrators];
  return identityOf(command) === undefined ? [] : [identities];
}

/** Returns the identity that the command links, if any. */
function identityOf(command: UserCommand): Identity | undefined {
  switch (command.type) {
    case 'CreateUser':
      return command.identity;
    case 'LinkIdentity':
      return command;
    case 'ChangeUser':
    case 'ChangeUserPassword':
    case 'LeaveGroup':
    case 'UnlinkIdentity':
    case 'EnableSecondFactor':
    case 'DisableSecondFactor':
    case 'ReplaceRecoveryCodes':
    case 'UseRecoveryCode':
    case 'AddPasskey':
    case 'RemovePasskey':
    case 'RenamePasskey':
    case 'UsePasskey':
      return undefined;
  }
}

async function isTaken(command: UserCommand, reads: DecisionReads): Promise<boolean> {
  const identity = identityOf(command);
  return identity !== undefined && (await reads.identityTaken(identity, command.userId));
}

export const userAggregate: Aggregate<UserState, UserCommand, UserEvent, UserDecisionFacts> = {
  streamType: 'user',
  commands: {
    CreateUser: true,
    ChangeUser: true,
    ChangeUserPassword: true,
    LeaveGroup: true,
    LinkIdentity: true,
    UnlinkIdentity: true,
    EnableSecondFactor: true,
    DisableSecondFactor: true,
    ReplaceRecoveryCodes: true,
    UseRecoveryCode: true,
    AddPasskey: true,
    RemovePasskey: true,
    RenamePasskey: true,
    UsePasskey: true,
  },
  events: {
    UserCreated: true,
    UserChanged: true,
    UserPasswordChanged: true,
    UserIdentityLinked: true,
    UserIdentityUnlinked: true,
    SecondFactorEnabled: true,
    SecondFactorDisabled: true,
    RecoveryCodesReplaced: true,
    RecoveryCodeUsed: true,
    PasskeyAdded: true,
    PasskeyRemoved: true,
    PasskeyRenamed: true,
    PasskeyUsed: true,
    PasskeyUseRefused: true,
  },
  initial: initialUser,
  evolve: evolveUser,
  stateVersion: 5,
  decide: decideUser,
  streamOf: (command) => `user-${command.userId}`,
  guards: guardsOf,
  exclusiveGuards: guardsOf,
  readFacts: async (command, reads) => ({
    emailTaken: command.type === 'CreateUser' && (await reads.emailTaken(command.email)),
    otherAdministrator:
      command.type !== 'ChangeUser' || (await reads.otherAdministrator(command.userId)),
    identityTaken: await isTaken(command, reads),
    keyExists:
      command.type !== 'EnableSecondFactor' || (await reads.dataKeyExists(command.sealed.keyId)),
  }),
};
