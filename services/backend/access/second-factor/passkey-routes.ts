/** Manages the passkeys of the user's own account. */
import { passkeysOf } from '#domain/user/state.ts';
import { issueChallenge } from '#infra/postgres/access/passkey-challenges.ts';
import { findUser } from '#projections/users/queries.ts';
import { operation, type Operation } from '../../http/operation.ts';
import { accepted, noContent, positionHeader } from '../../http/outcome.ts';
import { fieldProblem, isProblem, notFound, problem } from '../../http/problem.ts';
import { json } from '../../http/reply.ts';
import { Exact, pathParameters } from '../../http/schema.ts';
import { confirmIdentity } from '../confirm-identity.ts';
import {
  AddedPasskey,
  ChallengeInput,
  NewPasskey,
  PasskeyChallenge,
  PasskeyName,
  PasskeyOptions,
} from './passkey-schema.ts';
import { checkNewPasskey, siteOf } from './passkeys.ts';
import { FactorConfirmation } from './second-factor-schema.ts';
import { factorRequired, newRecoveryCodes } from './second-factor.ts';
import { checkPassword } from '../sign-in.ts';

const shared = { tag: 'Authentication', access: 'session' } as const;
const atAddress = problem(
  'forbidden',
  'Passkeys cannot be used at an IP address. Open the dashboard by its host name.',
);

const referencesOf = (factor: Parameters<typeof passkeysOf>[0]) =>
  passkeysOf(factor).map(({ webauthnId, transports }) => ({ id: webauthnId, transports }));

const prepare = operation({
  ...shared,
  allowsFactorSetUp: true,
  method: 'post',
  path: '/api/v1/auth/second-factor/passkeys/options',
  operationId: 'createPasskeyOptions',
  summary: 'Generate the options for a new passkey',
  description:
    'Pass the options to `navigator.credentials.create()` on a page of the dashboard. Refused if ' +
    'the dashboard is opened at an IP address instead of a host name.',
  body: { schema: Exact({}), example: {}, optional: true },
  responses: { 200: { description: 'The options.', schema: PasskeyOptions } },
  handle: async ({ principal: { userId }, origin }, { database, readModels }) => {
    const site = siteOf(origin);
    if (site === undefined) return atAddress;
    const user = await findUser(readModels, userId);
    return json(200, {
      challenge: await issueChallenge(database, userId, 'add'),
      rp_id: site.rpId,
      user_handle: Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url'),
      existing: referencesOf(user?.second_factor),
    });
  },
});

const example = {
  name: 'Laptop',
  current_password: 'correct horse battery staple',
  credential: { id: 'AQID', client_data: 'e30', attestation: 'o2M', transports: ['internal'] },
};

const add = operation({
  ...shared,
  allowsFactorSetUp: true,
  method: 'post',
  path: '/api/v1/auth/second-factor/passkeys',
  operationId: 'addPasskey',
  summary: 'Add a passkey to your account',
  description:
    'From then on, password sign-ins also require a passkey, a code from an authenticator app, or ' +
    'a recovery code. Returns ten recovery codes if the account had no second factor. The codes ' +
    'are not returned again. ' +
    'Failed attempts count towards the sign-in limit.',
  body: { schema: NewPasskey, example },
  responses: {
    201: {
      description: 'The passkey was added.',
      schema: AddedPasskey,
      headers: ['Orch-Position'],
    },
  },
  refusals: ['rate_limited', 'already_exists', 'version_mismatch'],
  handle: async (call, services) => {
    const { name, current_password: password, code, passkey, credential } = call.body;
    const { userId } = call.principal;
    const user = await confirmIdentity({ password, code, passkey }, call, services);
    if (isProblem(user)) return user;
    const { origin } = call;
    const made = await checkNewPasskey({ userId, given: credential }, { origin, services });
    if (typeof made === 'string') return fieldProblem('credential', made);
    const isFirst = user.second_factor === null;
    const { codes, hashes } = isFirst ? newRecoveryCodes() : { codes: [], hashes: [] };
    const passkeyId = services.ids.next();
    const command = {
      type: 'AddPasskey',
      userId,
      passkeyId,
      name,
      recoveryHashes: hashes,
    } as const;
    const outcome = accepted(
      await services.commands.execute({ ...command, ...made }, call.context),
    );
    if (isProblem(outcome)) return outcome;
    return json(201, { id: passkeyId, recovery_codes: codes }, positionHeader(outcome));
  },
});

const rename = operation({
  ...shared,
  method: 'patch',
  path: '/api/v1/auth/second-factor/passkeys/{passkey_id}',
  operationId: 'renamePasskey',
  summary: 'Rename a passkey of your account',
  parameters: { passkey_id: pathParameters.passkeyId },
  body: {
    schema: PasskeyName,
    example: { name: 'Phone' },
    mediaTypes: ['application/merge-patch+json'],
  },
  responses: { 204: { description: 'The passkey was renamed.', headers: ['Orch-Position'] } },
  handle: async ({ principal: { userId }, parameters, body: { name }, context }, { commands }) => {
    const passkeyId = parameters.passkey_id;
    const command = { type: 'RenamePasskey', userId, passkeyId, name } as const;
    return noContent(await commands.execute(command, context));
  },
});

const remove = operation({
  ...shared,
  method: 'post',
  path: '/api/v1/auth/second-factor/passkeys/{passkey_id}/remove',
  operationId: 'removePasskey',
  summary: 'Remove a passkey from your account',
  description:
    'Without another passkey or an authenticator app, the second factor is disabled and the ' +
    'recovery codes become ' +
    'invalid. This is refused if the role requires a second factor.',
  parameters: { passkey_id: pathParameters.passkeyId },
  body: {
    schema: FactorConfirmation,
    example: { current_password: 'correct horse battery staple', code: '123456' },
  },
  responses: { 204: { description: 'The passkey was removed.', headers: ['Orch-Position'] } },
  refusals: ['rate_limited'],
  handle: async (call, services) => {
    const { current_password: password, code, passkey } = call.body;
    const { userId, role } = call.principal;
    const passkeyId = call.parameters.passkey_id;
    const factor = (await findUser(services.readModels, userId))?.second_factor;
    const passkeys = passkeysOf(factor);
    if (!passkeys.some((one) => one.passkeyId === passkeyId)) return notFound;
    const isLast = factor?.sealed === undefined && passkeys.length === 1;
    if (isLast && services.secondFactorRoles.includes(role)) return factorRequired;
    const user = await confirmIdentity({ password, code, passkey }, call, services);
    if (isProblem(user)) return user;
    const command = { type: 'RemovePasskey', userId, passkeyId } as const;
    return noContent(await services.commands.execute(command, call.context));
  },
});

const challenge = operation({
  tag: 'Authentication',
  access: 'public',
  method: 'post',
  path: '/api/v1/auth/second-factor/challenge',
  operationId: 'createPasskeyChallenge',
  summary: 'Create a passkey challenge',
  description:
    'Pass the challenge to `navigator.credentials.get()`, and its result as `passkey` to `POST ' +
    '/auth/login` or to a request ' +
    'that requires a code. `challenge` is null if the account has no passkeys, or if the ' +
    'dashboard is opened at an IP address instead of a host name. Failed attempts count towards ' +
    'the sign-in limit.',
  body: {
    schema: ChallengeInput,
    example: { email: 'ada@example.com', password: 'correct horse battery staple' },
  },
  responses: { 200: { description: 'The challenge.', schema: PasskeyChallenge } },
  refusals: ['unauthenticated', 'rate_limited', 'forbidden'],
  handle: async (call, services) => {
    const user = await checkPassword(call, services);
    if (isProblem(user)) return user;
    const passkeys = referencesOf(user.second_factor);
    const site = siteOf(call.origin);
    if (passkeys.length === 0 || site === undefined) {
      return json(200, { challenge: null, rp_id: null, passkeys: [] });
    }
    const issued = await issueChallenge(services.database, user.user_id, 'use');
    return json(200, { challenge: issued, rp_id: site.rpId, passkeys });
  },
});

export const passkeyOperations: readonly Operation[] = [prepare, add, rename, remove, challenge];
