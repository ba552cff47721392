import type { SecretsRead } from './events.ts';

/** Asked by the runtime before it opens values of secrets for a run. */
export type ReadSecrets = SecretsRead['data'] & { readonly type: 'ReadSecrets' };

export type SecretUseCommand = ReadSecrets;
