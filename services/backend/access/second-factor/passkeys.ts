/** Passkeys (WebAuthn) as the second factor. */
import { isIP } from 'node:net';
import { mustParse, parseCommandId, parseUserId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Passkey, SecondFactor } from '#domain/user/events.ts';
import { passkeysOf } from '#domain/user/state.ts';
import { redeemChallenge } from '#infra/postgres/access/passkey-challenges.ts';
import type { UsersTable } from '#projections/users/table.ts';
import type { Services } from '../../services.ts';
import type { NewPasskeyBody, PasskeySignature } from './passkey-schema.ts';

/** The site that passkeys belong to. Browsers accept a passkey only on pages of this host. */
interface Site {
  readonly origin: string;
  readonly rpId: string;
}

interface CheckDeps {
  /** Origin of the dashboard. */
  readonly origin: string;
  readonly context: CommandContext;
  readonly services: Services;
}

/** Imported on the first use of a passkey, because the library uses 12 MB of memory. */
const webauthn = () => import('@simplewebauthn/server');

/** The site of an origin. @returns undefined for an IP address, where browsers offer no passkeys (WebAuthn §5.1.3) */
export function siteOf(origin: string): Site | undefined {
  const { origin: own, hostname } = new URL(origin);
  return isIP(hostname.replaceAll(/[[\]]/g, '')) === 0
    ? { origin: own, rpId: hostname }
    : undefined;
}

/** Checks a new passkey. The challenge is consumed only if all other checks pass.
 *  @returns the passkey, or the reason why it is refused */
export async function checkNewPasskey(
  { userId, given }: { userId: string; given: NewPasskeyBody },
  { origin, services }: Pick<CheckDeps, 'origin' | 'services'>,
): Promise<Pick<Passkey, 'webauthnId' | 'publicKey' | 'counter' | 'transports'> | string> {
  const site = siteOf(origin);
  if (site === undefined) return noSite;
  const client = readClientData(given.client_data);
  const foreign = problemOf(client, site);
  if (client === undefined || foreign !== undefined) return foreign ?? unreadable;
  const { verifyRegistrationResponse } = await webauthn();
  const made = await verifyRegistrationResponse({
    response: {
      id: given.id,
      rawId: given.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON: given.client_data, attestationObject: given.attestation },
    },
    expectedChallenge: client.challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: false,
  }).catch(() => undefined);
  if (made?.verified !== true) return 'is not a valid passkey for this site';
  const scope = { userId, purpose: 'add' } as const;
  if (!(await redeemChallenge(services.database, client.challenge, scope))) return expired;
  const { id, publicKey, counter } = made.registrationInfo.credential;
  const { transports } = given;
  return {
    webauthnId: id,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports,
  };
}

/** Checks the signature of a passkey, and records the use. The challenge is consumed only if all other checks pass.
 *  @returns the reason why the signature is refused; undefined if it is valid */
export async function checkPasskey(
  user: Pick<UsersTable, 'user_id' | 'email'> & { readonly second_factor: SecondFactor },
  given: PasskeySignature,
  { origin, context, services }: CheckDeps,
): Promise<string | undefined> {
  const site = siteOf(origin);
  if (site === undefined) return noSite;
  const passkey = passkeysOf(user.second_factor).find((one) => one.webauthnId === given.id);
  if (passkey === undefined) return 'is not a passkey of this account';
  const client = readClientData(given.client_data);
  const foreign = problemOf(client, site);
  if (client === undefined || foreign !== undefined) return foreign ?? unreadable;
  const counter = await verifiedCounter(passkey, given, { ...site, challenge: client.challenge });
  if (counter === undefined) return 'has an incorrect signature';
  const userId = mustParse(parseUserId, user.user_id);
  const scope = { userId, purpose: 'use' } as const;
  if (!(await redeemChallenge(services.database, client.challenge, scope))) return expired;
  const outcome = await services.commands.execute(
    { type: 'UsePasskey', userId, passkeyId: passkey.passkeyId, counter },
    {
      ...context,
      // The command needs its own ID. The request's ID identifies the command that opens the session or makes the
      // confirmed change.
      commandId: mustParse(parseCommandId, services.ids.next()),
      actor: { kind: 'user', userId, email: user.email },
    },
  );
  if (outcome.kind !== 'accepted') return 'is not a passkey of this account';
  return outcome.events.some(({ type }) => type === 'PasskeyUsed') ? undefined : copied;
}

const noSite = 'cannot be used at an IP address; open the dashboard by its host name';
const expired = 'has an expired or used challenge; try again';
const unreadable = 'is not a response of a browser';
const copied = 'has an older counter than before and may have been copied; remove it';

interface ClientData {
  readonly challenge: string;
  readonly origin: string;
}

/** The client data that the browser signed (WebAuthn §5.8.1). */
function readClientData(text: string): ClientData | undefined {
  try {
    const data = JSON.parse(
      Buffer.from(text, 'base64url').toString(),
    ) as Partial<ClientData> | null;
    const { challenge, origin } = data ?? {};
    if (typeof challenge !== 'string' || typeof origin !== 'string') return undefined;
    return { challenge, origin };
  } catch {
    return undefined;
  }
}

function problemOf(client: ClientData | undefined, { origin }: Site): string | undefined {
  if (client === undefined) return unreadable;
  return client.origin === origin
    ? undefined
    : `was used on a page of another origin than ${origin}`;
}

async function verifiedCounter(
  { webauthnId, publicKey }: Passkey,
  given: PasskeySignature,
  { origin, rpId, challenge }: Site & { readonly challenge: string },
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await webauthn();
  const checked = await verifyAuthenticationResponse({
    response: {
      id: given.id,
      rawId: given.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: given.client_data,
        authenticatorData: given.authenticator_data,
        signature: given.signature,
      },
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: false,
    credential: {
      id: webauthnId,
      publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
      // With a stored counter of -1, the library accepts any counter. The domain compares the counters and records a
      // decrease.
      counter: -1,
    },
  }).catch(() => undefined);
  return checked?.verified === true ? checked.authenticationInfo.newCounter : undefined;
}
