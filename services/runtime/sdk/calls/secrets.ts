import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import Type from 'typebox';
import type { RunSecrets } from '../../secrets/run-secrets.ts';
import { answered, refused, sdkCall, type SdkCalls } from '../call.ts';

/** Calls that read the secrets of the run's script and group. */
export function secretCalls(secrets: Pick<RunSecrets, 'valueOf'>): SdkCalls {
  return {
    'secrets.get': sdkCall({
      arguments: Type.Object(
        { name: Type.String({ minLength: 1, maxLength: 128 }) },
        { additionalProperties: false },
      ),
      handle: async ({ name }, { run, log }) => {
        try {
          const value = await secrets.valueOf(run, name);
          if (value === undefined) {
            return refused(
              'not_found',
              `Neither the script nor its group has a secret named "${name}".`,
            );
          }
          log.mask([value]);
          return answered(value);
        } catch (error) {
          if (!(error instanceof UnreadableSecret)) throw error;
          return refused('refused', error.message);
        }
      },
    }),
  };
}
