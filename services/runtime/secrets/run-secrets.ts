/** Decrypts secrets for runs, in the runtime only, for the requesting run, after recording the access. */
import type { Actor } from '#domain/kernel/actor.ts';
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import { UnreadableSecret } from '#infra/secrets/envelope.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import type { ReadModels } from '#projections/projection.ts';
import {
  pinnedVersions,
  sealedSecrets,
  sealedVersion,
  type SealedSecret,
} from '#projections/secrets/queries.ts';

export interface RunSecretsParts {
  readonly reads: ReadModels;
  readonly vault: Vault;
  readonly commands: Commands;
  readonly ids: Ids;
}

const actor: Actor = { kind: 'system', name: 'runtime' };

export class RunSecrets {
  readonly #parts: RunSecretsParts;

  constructor(parts: RunSecretsParts) {
    this.#parts = parts;
  }

  /** The secrets that are variables of the script's runs, by name.
   *  @throws UnreadableSecret */
  async environmentOf(run: ClaimedRun): Promise<Readonly<Record<string, string>>> {
    const sealed = await this.#sealedFor(run);
    return await this.#open(
      run,
      sealed.filter((one) => one.as_environment),
    );
  }

  /** Changes with the names and versions of the secrets that the run may read; empty without secrets.
   *  @throws UnreadableSecret */
  async revisionOf(run: ClaimedRun): Promise<string> {
    const sealed = await this.#sealedFor(run);
    const revisions = sealed.map(({ name, version }) => `${name} ${version}`);
    return revisions.toSorted().join('\n');
  }

  /** The value of a secret; `undefined` if the script has no secret of that name.
   *  @throws UnreadableSecret */
  async valueOf(run: ClaimedRun, name: string): Promise<string | undefined> {
    const values = await this.#open(run, await this.#sealedFor(run, name));
    return values[name];
  }

  /** The current values, or those of the repeated run.
   *  @throws UnreadableSecret if one no longer exists, because it must not be replaced by another */
  async #sealedFor(run: ClaimedRun, name?: string): Promise<readonly SealedSecret[]> {
    const { reads } = this.#parts;
    const present = await sealedSecrets(reads, run.scriptId, name);
    if (run.triggerType !== 'rerun') return present;
    const pins = await pinnedVersions(reads, run.runId);
    const wanted = [...pins].filter(([pinned]) => name === undefined || pinned === name);
    const then = wanted.map(async ([pinned, version]) => {
      const isThere = present.some((one) => one.name === pinned);
      const place = { name: pinned, version };
      const sealed = isThere ? await sealedVersion(reads, run.scriptId, place) : undefined;
      if (sealed !== undefined) return { ...place, ...sealed };
      throw new UnreadableSecret(
        `The secret "${pinned}", of which the original run used version ${version}, no longer exists. Rerun ` +
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
    const { vault } = this.#parts;
    const opened = secrets.map(async ({ name, version, sealed }) => {
      const value = await vault.open({ scriptId: run.scriptId, name, version }, sealed);
      return [name, value] as const;
    });
    const values = Object.fromEntries(await Promise.all(opened));
    await this.#record(run, secrets);
    return values;
  }

  async #record(run: ClaimedRun, secrets: readonly SealedSecret[]): Promise<void> {
    const { commands, ids } = this.#parts;
    const { runId, scriptId, correlationId } = run;
    const outcome = await commands.execute(
      {
        type: 'ReadSecrets',
        runId,
        scriptId,
        secrets: secrets.map(({ name, version }) => ({ name, version })),
      },
      {
        commandId: mustParse(parseCommandId, ids.next()),
        actor,
        ip: null,
        correlationId,
        causationId: null,
      },
    );
    if (outcome.kind !== 'accepted') throw new Error('secret access was not recorded');
  }
}
