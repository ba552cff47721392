/** The secrets that a run received, in a stream `secret_use-<run id>`. The stream is separate from the run's
 *  stream because readers of a run's history may not see the names of secrets. Permanent: never rename a type or
 *  change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, RunId, ScriptId, SecretStoreId } from '#domain/kernel/ids.ts';

/** A secret's name and version. */
export interface SecretRead {
  readonly name: string;
  readonly version: number;
  /** The group whose secret it is. Absent: a secret of the script. */
  readonly groupId?: GroupId;
  /** The external store that the value was read from. Absent: the platform stores the value. */
  readonly storeId?: SecretStoreId;
}

/** Recorded before the run receives the values. Each value is recorded once, even after repeated requests. */
export type SecretsRead = DomainEvent<
  'SecretsRead',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly secrets: readonly SecretRead[];
  }
>;

export type SecretUseEvent = SecretsRead;
