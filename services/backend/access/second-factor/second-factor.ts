/** The second factor of password sign-ins: one-time codes from an authenticator app (RFC 6238), and recovery codes. */
import { createHash, randomBytes } from 'node:crypto';
import { mustParse, parseCommandId, parseUserId } from '#domain/kernel/ids.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import type { Sealed } from '#domain/secret/events.ts';
import type { SecondFactor } from '#domain/user/events.ts';
import { acceptStep } from '#infra/postgres/access/one-time-codes.ts';
import type { UsersTable } from '#projections/users/table.ts';
import { Secret, TOTP } from 'otpauth';
import { problem } from '../../http/problem.ts';
import type { Services } from '../../services.ts';

const issuer = 'Orchestrator';
const keyBytes = 20;
const stepSeconds = 30;
/** Also accepts the codes of the previous and next time steps, because clocks differ. */
const otherSteps = 1;
const recoveryCodeCount = 10;
/** With 80 bits, guessing a code from its hash is infeasible. */
const recoveryBytes = 10;

const placeOf = (userId: string) => ({ scriptId: userId, name: 'second_factor', version: 1 });

/** A new key for an authenticator app, in base32. */
export function newKey(): string {
  return new Secret({ buffer: new Uint8Array(randomBytes(keyBytes)).buffer }).base32;
}

/** Whether `text` is a base32 key of at least 128 bits. */
export function isKey(text: string): boolean {
  return /^[A-Z2-7]{26,128}$/.test(text);
}

/** The `otpauth:` address that authenticator apps read from a QR code. */
export function uriOf(key: string, email: string): string {
  return generator(key, email).toString();
}

/** New recovery codes with their hashes. */
export function newRecoveryCodes(): { readonly codes: string[]; readonly hashes: string[] } {
  const codes = Array.from({ length: recoveryCodeCount }, () => {
    const { base32 } = new Secret({ buffer: new Uint8Array(randomBytes(recoveryBytes)).buffer });
    return (base32.toLowerCase().match(/.{4}/g) ?? []).join('-');
  });
  return { codes, hashes: codes.map(hashOf) };
}

/** Encrypts the factor for storage. @throws UnreadableSecret if the data key is encrypted with another master key */
export async function sealFactor(
  { userId, key, hashes }: { userId: string; key: string; hashes: readonly string[] },
  { vault }: Services,
): Promise<SecondFactor & { readonly sealed: Sealed }> {
  return { sealed: await vault.seal(placeOf(userId), key), recoveryHashes: hashes };
}

/** Whether `code` is the current code of the key. Each code is accepted once. */
export async function isCurrentCode(
  { userId, key, code }: { userId: string; key: string; code: string },
  { clock, database }: Services,
): Promise<boolean> {
  const nowMs = clock.now().getTime();
  const delta = generator(key).validate({ token: code, timestamp: nowMs, window: otherSteps });
  if (delta === null) return false;
  return await acceptStep(database, userId, Math.floor(nowMs / 1000 / stepSeconds) + delta);
}

/** Whether `code` is the current code of the account or an unused recovery code. A recovery code is then marked as
 *  used.
 *  @throws UnreadableSecret if the data key is encrypted with another master key */
export async function isRightCode(
  user: UsersTable & { readonly second_factor: SecondFactor },
  code: string,
  { context, services }: { context: CommandContext; services: Services },
): Promise<boolean> {
  const { user_id: id, email, second_factor: factor } = user;
  const digits = code.replaceAll(/[\s-]/g, '');
  if (/^\d{6}$/.test(digits)) {
    if (factor.sealed === undefined) return false;
    const key = await services.vault.open(placeOf(id), factor.sealed);
    return await isCurrentCode({ userId: id, key, code: digits }, services);
  }
  const recoveryHash = hashOf(code);
  if (!factor.recoveryHashes.includes(recoveryHash)) return false;
  const userId = mustParse(parseUserId, id);
  const outcome = await services.commands.execute(
    { type: 'UseRecoveryCode', userId, recoveryHash },
    {
      ...context,
      // The command needs its own ID. The request's ID identifies the command that opens the session.
      commandId: mustParse(parseCommandId, services.ids.next()),
      actor: { kind: 'user', userId, email },
    },
  );
  return outcome.kind === 'accepted';
}

function generator(key: string, label = ''): TOTP {
  return new TOTP({ issuer, label, secret: Secret.fromBase32(key), period: stepSeconds });
}

function hashOf(recoveryCode: string): string {
  const letters = recoveryCode.toLowerCase().replaceAll(/[^a-z2-7]/g, '');
  return createHash('sha256').update(letters).digest('hex');
}

/** The response to disabling a second factor that the account's role requires. */
export const factorRequired = problem(
  'forbidden',
  'Your role requires a second factor, so you cannot disable it. To replace it, ask an ' +
    'administrator to reset it, and set up a new one at your next sign-in.',
);
