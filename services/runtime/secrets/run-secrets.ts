/** Opens secrets for runs: here alone, for the one run that asks, and not before it is recorded. */
import type { Actor } from '#domain/kernel/actor.ts';
import { known, parseCommandId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import type { ReadModels } from '#projections/projection.ts';
import { sealedSecrets, type SealedSecret } from '#projections/secrets/queries.ts';

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

  /** Those that are variables of the script's runs, by name.
   *  @throws UnreadableSecret */
  async environmentOf(run: ClaimedRun): Promise<Readonly<Record<string, string>>> {
    const sealed = await sealedSecrets(this.#parts.reads, run.scriptId);
    return await this.#open(
      run,
      sealed.filter((one) => one.as_environment),
    );
  }

  /** The present value of one; `undefined` where the script has none of that name.
   *  @throws UnreadableSecret */
  async valueOf(run: ClaimedRun, name: string): Promise<string | undefined> {
    const values = await this.#open(
      run,
      await sealedSecrets(this.#parts.reads, run.scriptId, name),
    );
    return values[name];
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
        commandId: known(parseCommandId, ids.next()),
        actor,
        ip: null,
        correlationId,
        causationId: null,
      },
    );
    if (outcome.kind !== 'accepted') throw new Error('a read of secrets was not recorded');
  }
}
