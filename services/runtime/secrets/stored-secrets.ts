/** Reads secret values from external stores, once per run. */
import { StoreFailure, type SecretStore } from '#domain/ports/secret-stores.ts';
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { SecretSource } from '#domain/secret/events.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import { openSource } from '#infra/secrets/sealed-source.ts';
import { storeTimeoutMs } from '#infra/secret-stores/secret-stores.ts';
import { storesOfScript, type StoreOfScript } from '#projections/secret-stores/queries.ts';
import type { SealedSecret } from '#projections/secrets/queries.ts';
import type { RunSecretsDeps } from './run-secrets.ts';

interface Run {
  readonly runId: RunId;
  readonly scriptId: ScriptId;
}

export class StoredSecrets {
  readonly #deps: Omit<RunSecretsDeps, 'commands' | 'ids'>;
  /** The reads for each run, by secret. They ensure that a run always receives the same value. */
  readonly #reads = new Map<RunId, Map<string, Promise<string>>>();

  constructor(deps: Omit<RunSecretsDeps, 'commands' | 'ids'>) {
    this.#deps = deps;
  }

  forget(runId: RunId): void {
    this.#reads.delete(runId);
  }

  /** Reads the values of the secrets that are in external stores.
   *  @returns the values by name
   *  @throws UnreadableSecret that names the secret, the store and the reason */
  async valuesOf(run: Run, secrets: readonly SealedSecret[]): Promise<ReadonlyMap<string, string>> {
    const external = secrets.filter(({ source }) => source !== null);
    if (external.length === 0) return new Map();
    const reads = this.#reads.get(run.runId) ?? new Map<string, Promise<string>>();
    this.#reads.set(run.runId, reads);
    const missing = external.filter((one) => !reads.has(keyOf(one)));
    if (missing.length > 0) {
      const reading = this.#openFor(run, missing);
      for (const one of missing) {
        const value = reading.then((read) => read(one));
        // Prevents an unhandled rejection. The code below awaits the promises, and reports only the first failure.
        value.catch(() => undefined);
        reads.set(keyOf(one), value);
      }
    }
    const values = external.map(
      async (one) => [one.name, (await reads.get(keyOf(one))) ?? ''] as const,
    );
    return new Map(await Promise.all(values));
  }

  /** Opens each required store once. */
  async #openFor(
    run: Run,
    secrets: readonly SealedSecret[],
  ): Promise<(secret: SealedSecret) => Promise<string>> {
    const { reads, stores, vault } = this.#deps;
    const ids = [...new Set(secrets.flatMap(({ source }) => source?.storeId ?? []))];
    const rows = await storesOfScript(reads, run.scriptId, ids);
    const opened = new Map<string, Promise<SecretStore>>();
    const signal = AbortSignal.timeout(storeTimeoutMs);
    return async (secret) => {
      const { name, version, sealed, group_id: groupId } = secret;
      const place = { scriptId: groupId ?? run.scriptId, name, version };
      // Reads the source from the ciphertext, because the column could have been changed in the database.
      const source = await openSource(vault, place, sealed);
      const row = rows.get(source.storeId);
      return await naming(secret, row, async () => {
        const store = opened.get(source.storeId) ?? stores.open(permitted(row));
        opened.set(source.storeId, store);
        return await (await store).read(placeIn(source), signal);
      });
    };
  }
}

function keyOf({ name, version, group_id: groupId }: SealedSecret): string {
  return `${name} ${version} ${groupId ?? ''}`;
}

function placeIn({ path, key }: SecretSource) {
  return { path, key };
}

function permitted(row: StoreOfScript | undefined): StoreOfScript {
  if (row === undefined) throw new StoreFailure('the store does not exist');
  if (!row.allowed) throw new StoreFailure("the script's group may not use the store");
  return row;
}

async function naming(
  { name, source }: SealedSecret,
  row: StoreOfScript | undefined,
  read: () => Promise<string>,
): Promise<string> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof StoreFailure || cause instanceof UnreadableSecret)) throw cause;
    const store = row?.settings.name ?? source?.storeId ?? '';
    throw new UnreadableSecret(
      `The secret "${name}" cannot be read from the secret store "${store}": ${cause.message}.`,
      { cause },
    );
  }
}
