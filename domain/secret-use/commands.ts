import type { SecretsRead } from './events.ts';

/** Sent by the runtime before it decrypts secrets for a run. */
export type ReadSecrets = SecretsRead['data'] & { readonly type: 'ReadSecrets' };

export type SecretUseCommand = ReadSecrets;
