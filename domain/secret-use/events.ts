/** Which secrets a run was given, in a stream `secret_use-<run id>` for each run that was given one, so
 *  that whoever may read a run's own history does not read the names of secrets there. Stored for good:
 *  a type is never renamed and a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';

/** A value of a secret, by its name and version. */
export interface SecretRead {
  readonly name: string;
  readonly version: number;
}

/** Values are about to be given to the run: each is recorded once, however often it is asked for. */
export type SecretsRead = DomainEvent<
  'SecretsRead',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly secrets: readonly SecretRead[];
  }
>;

export type SecretUseEvent = SecretsRead;
