/** Records which secrets a run received, in the stream `secret_use-<run id>`. The run's own stream does not contain
 *  this data, because users who may read a run's history may not see secret names. Permanent: never rename a type or
 *  change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { GroupId, RunId, ScriptId, SecretStoreId } from '#domain/kernel/ids.ts';

/** The name and version of a secret value. */
export interface SecretRead {
  readonly name: string;
  readonly version: number;
  /** The group that owns the secret. Absent if the script owns the secret. */
  readonly groupId?: GroupId;
  /** The secret store that contains the value. Absent if the platform stores the value. */
  readonly storeId?: SecretStoreId;
}

/** Recorded before the run receives the values. Each value is recorded only once, even if the run requests it
 *  repeatedly. */
export type SecretsRead = DomainEvent<
  'SecretsRead',
  {
    readonly runId: RunId;
    readonly scriptId: ScriptId;
    readonly secrets: readonly SecretRead[];
  }
>;

export type SecretUseEvent = SecretsRead;
