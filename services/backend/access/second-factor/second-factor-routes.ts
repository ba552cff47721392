/** Manages the second factor of the user's own account. */
import { findUser } from '#projections/users/queries.ts';
import { operation, type Operation } from '../../http/operation.ts';
import { accepted, noContent, positionHeader } from '../../http/outcome.ts';
import { fieldProblem, isProblem, problem } from '../../http/problem.ts';
import { json } from '../../http/reply.ts';
import { Exact } from '../../http/schema.ts';
import { sealing } from '../../http/sealing.ts';
import { confirmIdentity } from '../confirm-identity.ts';
import { passkeysJson } from '../view.ts';
import {
  FactorConfirmation,
  FactorKey,
  NewFactor,
  RecoveryCodes,
  SecondFactorState,
} from './second-factor-schema.ts';
import {
  isCurrentCode,
  isKey,
  newKey,
  newRecoveryCodes,
  sealFactor,
  uriOf,
  factorRequired,
} from './second-factor.ts';

const shared = { tag: 'Authentication', access: 'session' } as const;
const confirmation = { current_password: 'correct horse battery staple', code: '123456' };

const read = operation({
  ...shared,
  allowsFactorSetUp: true,
  method: 'get',
  path: '/api/v1/auth/second-factor',
  operationId: 'getSecondFactor',
  summary: 'Read the status of your second factor',
  responses: {
    200: { description: 'The status of the second factor.', schema: SecondFactorState },
  },
  handle: async ({ principal }, { readModels }) => {
    const factor = (await findUser(readModels, principal.userId))?.second_factor ?? null;
    return json(200, {
      enabled: factor !== null,
      app: factor?.sealed !== undefined,
      passkeys: passkeysJson(factor),
      recovery_codes_left: factor?.recoveryHashes.length ?? 0,
    });
  },
});

const makeKey = operation({
  ...shared,
  allowsFactorSetUp: true,
  method: 'post',
  path: '/api/v1/auth/second-factor/key',
  operationId: 'createFactorKey',
  summary: 'Generate a key for an authenticator app',
  description:
    'The key is not stored. Enter it in the app, or show `uri` as a QR code. Then enable the ' +
    'second factor with the ' +
    'key and a code from the app.',
  body: { schema: Exact({}), example: {}, optional: true },
  responses: { 200: { description: 'The key.', schema: FactorKey } },
  handle: async ({ principal }) => {
    const key = newKey();
    return await Promise.resolve(json(200, { key, uri: uriOf(key, principal.email) }));
  },
});

const enable = operation({
  ...shared,
  allowsFactorSetUp: true,
  method: 'post',
  path: '/api/v1/auth/second-factor',
  operationId: 'enableSecondFactor',
  summary: 'Enable codes from an authenticator app as your second factor',
  description:
    'Returns ten recovery codes, or none if the account already has recovery codes. Each code can ' +
    'replace a one-time code once. The codes are not returned again. Sign-ins at ' +
    'an identity provider and API tokens do not require a code. Failed attempts count towards the ' +
    'sign-in limit.',
  body: {
    schema: NewFactor,
    example: { ...confirmation, key: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567' },
  },
  responses: {
    201: {
      description: 'The second factor is enabled.',
      schema: RecoveryCodes,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['rate_limited', 'already_exists', 'version_mismatch', 'unavailable'],
  handle: async (call, services) => {
    const { current_password: password, key, code, recovery_code: recovery, passkey } = call.body;
    if (!isKey(key)) return fieldProblem('key', 'is not a base32 key of 26 to 128 characters');
    const before = await findUser(services.readModels, call.principal.userId);
    const hasApp = before?.second_factor?.sealed !== undefined;
    const other = { code: hasApp ? (false as const) : recovery, passkey };
    const user = await confirmIdentity({ password, ...other }, call, services);
    if (isProblem(user)) return user;
    if (user.second_factor?.sealed !== undefined) {
      return problem('already_exists', 'A second factor is already enabled. Disable it first.');
    }
    const { userId } = call.principal;
    if (!(await isCurrentCode({ userId, key, code }, services))) {
      return fieldProblem('code', 'is not the current code, or was already used');
    }
    // An account with passkeys already has recovery codes.
    const isFirst = user.second_factor === null;
    const { codes, hashes } = isFirst ? newRecoveryCodes() : { codes: [], hashes: [] };
    return await sealing('The second factor', async () => {
      const factor = await sealFactor({ userId, key, hashes }, services);
      const command = { type: 'EnableSecondFactor', userId, ...factor } as const;
      const outcome = accepted(await services.commands.execute(command, call.context));
      if (isProblem(outcome)) return outcome;
      return json(201, { recovery_codes: codes }, positionHeader(outcome));
    });
  },
});

const replaceCodes = operation({
  ...shared,
  method: 'post',
  path: '/api/v1/auth/second-factor/recovery-codes',
  operationId: 'replaceRecoveryCodes',
  summary: 'Generate new recovery codes; the previous ones become invalid',
  body: { schema: FactorConfirmation, example: confirmation },
  responses: {
    200: { description: 'The new codes.', schema: RecoveryCodes, headers: ['Orch-Position'] },
  },
  refusals: ['rate_limited'],
  handle: async (call, services) => {
    const { current_password: password, code, passkey } = call.body;
    const user = await confirmIdentity({ password, code, passkey }, call, services);
    if (isProblem(user)) return user;
    const { codes, hashes } = newRecoveryCodes();
    const { userId } = call.principal;
    const command = { type: 'ReplaceRecoveryCodes', userId, recoveryHashes: hashes } as const;
    const outcome = accepted(await services.commands.execute(command, call.context));
    if (isProblem(outcome)) return outcome;
    return json(200, { recovery_codes: codes }, positionHeader(outcome));
  },
});

const disable = operation({
  ...shared,
  method: 'post',
  path: '/api/v1/auth/second-factor/disable',
  operationId: 'disableSecondFactor',
  summary: 'Disable your second factor',
  description:
    'The key of the authenticator app, the passkeys and the recovery codes become invalid. ' +
    'Refused if the role requires a second ' +
    'factor.',
  body: { schema: FactorConfirmation, example: confirmation },
  responses: { 204: { description: 'The second factor is disabled.', headers: ['Orch-Position'] } },
  refusals: ['rate_limited'],
  handle: async (call, services) => {
    const { current_password: password, code, passkey } = call.body;
    if (services.secondFactorRoles.includes(call.principal.role)) return factorRequired;
    const user = await confirmIdentity({ password, code, passkey }, call, services);
    if (isProblem(user)) return user;
    const { userId } = call.principal;
    const command = { type: 'DisableSecondFactor', userId } as const;
    const reply = noContent(await services.commands.execute(command, call.context));
    await services.vault.destroyUnusedKey(userId);
    return reply;
  },
});

export const secondFactorOperations: readonly Operation[] = [
  read,
  makeKey,
  enable,
  replaceCodes,
  disable,
];
