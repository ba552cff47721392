/** Facts of a script's secrets, in one stream `secret-<script id>` for all of them. Stored for good: a
 *  type is never renamed and a field never changes its meaning. No value is here, only its ciphertext;
 *  the key that opens it lies outside the events, so that it can be destroyed. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ScriptId } from '#domain/kernel/ids.ts';

/** A value under AES-256-GCM. Script, name, version and key id are bound to it as additional data. */
export interface Sealed {
  /** Names the script's data key. */
  readonly keyId: string;
  /** 96 bits in base64. */
  readonly nonce: string;
  /** Ciphertext and tag in base64. */
  readonly ciphertext: string;
}

export type SecretSet = DomainEvent<
  'SecretSet',
  {
    readonly scriptId: ScriptId;
    readonly name: string;
    /** Of this secret, from 1 on. */
    readonly version: number;
    /** Whether it is a variable of the script's runs too. */
    readonly asEnvironment: boolean;
    readonly sealed: Sealed;
  }
>;

export type SecretDeleted = DomainEvent<
  'SecretDeleted',
  { readonly scriptId: ScriptId; readonly name: string }
>;

export type SecretEvent = SecretSet | SecretDeleted;
