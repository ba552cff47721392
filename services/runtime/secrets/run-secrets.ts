/** Decrypts secrets for runs. Secrets are only decrypted in the runtime, for the run that requests them, after the
 *  access is recorded. */

import { createHash } from 'node:crypto';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import type { SecretStores } from '#infra/secret-stores/secret-stores.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import type { ReadModels } from '#projections/projection.ts';
import {
  pinnedVersions,
  sealedSecrets,
  sealedVersion,
  type SealedSecret,
} from '#projections/secrets/queries.ts';
import { StoredSecrets } from './stored-secrets.ts';

export interface RunSecretsDeps {
  readonly reads: ReadModels;
  readonly vault: Vault;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly stores: Pick<SecretStores, 'open'>;
}

export class RunSecrets {
  readonly #deps: RunSecretsDeps;
  readonly #stored: StoredSecrets;

  constructor(deps: RunSecretsDeps) {
    this.#deps = deps;
    this.#stored = new StoredSecrets(deps);
  }

  /** Returns the secrets that the run receives as environment variables, by name. Also reads all other secrets in
   *  external stores, so that the run does not start if any of them is unreadable.
   *  @throws UnreadableSecret */
  async environmentOf(run: ClaimedRun): Promise<Readonly<Record<string, string>>> {
    const sealed = await this.#sealedFor(run);
    const values = await this.#open(
      run,
      sealed.filter((one) => one.as_environment || one.source !== null),
    );
    const variables = sealed.filter((one) => one.as_environment);
    return Object.fromEntries(variables.map(({ name }) => [name, values[name] ?? '']));
  }

  /** Returns a fingerprint of the names and versions of the secrets that the run may read, and of their values in
   *  external stores. The text is empty if there are no secrets.
   *  @throws UnreadableSecret */
  async revisionOf(run: ClaimedRun): Promise<string> {
    const sealed = await this.#sealedFor(run);
    const values = await this.#stored.valuesOf(run, sealed);
    const revisions = sealed.map(({ name, version, group_id: groupId }) => {
      const value = values.get(name);
      const hash = value === undefined ? '' : createHash('sha256').update(value).digest('hex');
      return `${name} ${version} ${groupId ?? ''} ${hash}`;
    });
    return revisions.toSorted().join('\n');
  }

  /** Discards the values that were read from external stores for the run. */
  forget({ runId }: ClaimedRun): void {
    this.#stored.forget(runId);
  }

  /** Returns the value of a secret, or `undefined` if neither the script nor its group has a secret with this name.
   *  @throws UnreadableSecret */
  async valueOf(run: ClaimedRun, name: string): Promise<string | undefined> {
    const values = await this.#open(run, await this.#sealedFor(run, name));
    return values[name];
  }

  /** Reads the current secrets. For an exact rerun, reads the secrets of the original run.
   *  @throws UnreadableSecret if a secret of the original run no longer exists, because no other value may
   *  replace it */
  async #sealedFor(run: ClaimedRun, name?: string): Promise<readonly SealedSecret[]> {
    const { reads } = this.#deps;
    const present = await sealedSecrets(reads, run.scriptId, name);
    if (run.triggerType !== 'rerun') return present;
    const pins = await pinnedVersions(reads, run.runId);
    const wanted = [...pins.values()].filter((pin) => name === undefined || pin.name === name);
    const then = wanted.map(async (pin) => {
      const isThere = present.some((one) => one.name === pin.name && one.group_id === pin.group_id);
      const sealed = isThere ? await sealedVersion(reads, run.scriptId, pin) : undefined;
      if (sealed !== undefined) return sealed;
      throw new UnreadableSecret(
        `The secret "${pin.name}", of which the original run used version ${pin.version}, no longer exists. Rerun ` +
          'with the current secrets instead.',
      );
    });
    const others = present.filter((one) => !pins.has(one.name));
    return [...others, ...(await Promise.all(then))];
  }

  async #open(
    run: ClaimedRun,
    secrets: readonly SealedSecret[],
  ): Promise<Readonly<Record<string, string>>> {
    if (secrets.length === 0) return {};
    const { vault } = this.#deps;
    const [stored, ...opened] = await Promise.all([
      this.#stored.valuesOf(run, secrets),
      ...secrets
        .filter(({ source }) => source === null)
        .map(async ({ name, version, sealed, group_id: groupId }) => {
          const place = { scriptId: groupId ?? run.scriptId, name, version };
          return [name, await vault.open(place, sealed)] as const;
        }),
    ]);
    const values = Object.fromEntries([...opened, ...stored]);
    await this.#record(run, secrets);
    return values;
  }

  async #record(run: ClaimedRun, secrets: readonly SealedSecret[]): Promise<void> {
    const { commands, ids } = this.#deps;
    const { runId, scriptId, correlationId } = run;
    const outcome = await commands.execute(
      {
        type: 'ReadSecrets',
        runId,
        scriptId,
        secrets: secrets.map(({ name, version, source, group_id: groupId }) => ({
          name,
          version,
          ...(groupId !== null && { groupId }),
          ...(source !== null && { storeId: source.storeId }),
        })),
      },
      systemContext('runtime', ids.next(), correlationId),
    );
    if (outcome.kind !== 'accepted') throw new Error('secret access was not recorded');
  }
}
