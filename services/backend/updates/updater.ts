/** Executes updates step by step, up to the restart. The events contain the progress, so the updater continues with the
 *  unfinished step after a crash. Each step can be repeated. */
import { rm, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { StartBackup } from '#domain/backup/commands.ts';
import type { BackupEvent } from '#domain/backup/events.ts';
import { evolveBackup, initialBackup, type BackupState } from '#domain/backup/state.ts';
import { mustParse, parseBackupId, type BackupId, type UpdateId } from '#domain/kernel/ids.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { systemContext, type Commands, type Outcome } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { UpdateProvider } from '#domain/ports/updates.ts';
import type { UpdateCommand } from '#domain/update/commands.ts';
import type { ActiveUpdate } from '#domain/update/state.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { countEventsAfter, readStream } from '#infra/postgres/event-store/event-store.ts';
import { prepareRelease, type Preparing } from '#infra/updates/prepare.ts';
import type { Logger } from '#services/shared/logger.ts';
import {
  bringsMigrations,
  type Installed,
  type Releases,
  type Switch,
} from '#services/shared/releases.ts';
import { checkRuns, removeCheck, type SelfCheckDeps } from './self-check.ts';
import { readUpdates } from './update-history.ts';

/** The timeout for a backup. */
const defaultBackupTimeoutMs = 30 * 60_000;

export interface UpdaterDeps {
  readonly commands: Commands;
  readonly database: Queryable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Undefined if no repository is configured. */
  readonly provider: UpdateProvider | undefined;
  readonly releases: Releases;
  /** The running release. */
  readonly own: Installed;
  readonly prepare?: (preparing: Preparing, signal: AbortSignal) => Promise<void>;
  readonly backupTimeoutMs?: number;
  readonly objects: SelfCheckDeps['objects'];
}

export class Updater {
  readonly #deps: UpdaterDeps;

  constructor(deps: UpdaterDeps) {
    this.#deps = deps;
  }

  /** Runs one round: records the result of a restart, or performs the next step of the active update.
   *  @returns when the next round is due, if an update is active */
  async runOnce(signal: AbortSignal): Promise<boolean | { readonly inMs: number }> {
    await this.#recordOutcome();
    await this.#removeCopy();
    const { active } = (await readUpdates(this.#deps.database)).state;
    if (active === null) return false;
    return active.step === 'restart'
      ? await this.#restart(active)
      : await this.#step(active, signal);
  }

  async #step(active: ActiveUpdate, signal: AbortSignal): Promise<true> {
    const { updateId, step } = active;
    this.#deps.logger.info({ update: updateId, step, version: active.to }, 'update step started');
    try {
      const detail = await this.#work(active, signal);
      await this.#execute({ type: 'FinishUpdateStep', updateId, step, detail });
    } catch (error) {
      // Stopping this process does not fail the update. The next process continues the update.
      if (signal.aborted) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      this.#deps.logger.warn({ update: updateId, step, error }, 'update failed');
      await this.#execute({ type: 'FailUpdate', updateId, reason: reason.slice(0, 1000) });
      await rm(this.#downloads, { recursive: true, force: true });
    }
    return true;
  }

  /** Performs the current step. @returns a note for the history */
  async #work(active: ActiveUpdate, signal: AbortSignal): Promise<string | null> {
    const { to: version, updateId } = active;
    switch (active.step) {
      case 'download':
        this.#deps.releases.make();
        await mkdir(this.#downloads, { recursive: true, mode: 0o700 });
        await this.#provider.download(version, this.#downloads);
        return null;
      case 'verify':
        if (await this.#provider.verify(this.#artifactOf(version))) return null;
        throw new Error('The download does not match its signature and was discarded.');
      case 'backup':
        return await this.#backUp(updateId, signal);
      case 'prepare': {
        // Verifies the artifact again, immediately before opening it.
        if (!(await this.#provider.verify(this.#artifactOf(version)))) {
          throw new Error('The download was changed after verification.');
        }
        const { releases, own, prepare = prepareRelease } = this.#deps;
        const folder = releases.folderOf(version);
        const artifactPath = this.#artifactOf(version);
        await prepare({ artifactPath, version, folder, ownFolder: own.folder }, signal);
        return null;
      }
      case 'restart':
        return null;
    }
  }

  /** The ID of the backup is derived from the update, so that a second attempt finds the first backup. */
  async #backUp(updateId: UpdateId, signal: AbortSignal): Promise<string> {
    const { ids, clock, backupTimeoutMs = defaultBackupTimeoutMs } = this.#deps;
    const backupId = mustParse(parseBackupId, ids.derived(updateId, 'backup'));
    await this.#execute({ type: 'StartBackup', backupId, kind: 'before_update' });
    const deadlineMs = clock.now().getTime() + backupTimeoutMs;
    for (;;) {
      const { status } = await this.#backup(backupId);
      if (status === 'complete') return backupId;
      if (status !== 'running')
        throw new Error('The backup failed. See the backup for the reason.');
      if (clock.now().getTime() > deadlineMs) throw new Error('The backup did not complete.');
      await pause(200, undefined, { signal });
    }
  }

  async #backup(backupId: BackupId): Promise<BackupState> {
    const events = await readStream(this.#deps.database, `backup-${backupId}`, 1);
    return (events as unknown as readonly BackupEvent[]).reduce(evolveBackup, initialBackup);
  }

  /** Requests the restart from the supervisor, which then stops this process. */
  async #restart(active: ActiveUpdate): Promise<true | { readonly inMs: number }> {
    const { releases, own } = this.#deps;
    const wanted = releases.read('switch');
    if (wanted === undefined && releases.read('outcome') === undefined) {
      const to = this.#target(active);
      const { updateId, kind } = active;
      const restores = await this.#restores(active, to);
      if (restores === 'impossible') {
        const reason = `The copy of the database of ${to.version} no longer exists.`;
        await this.#execute({ type: 'FailUpdate', updateId, reason });
        return true;
      }
      releases.write('switch', {
        updateId,
        kind,
        from: own,
        to,
        isTried: false,
        ...(restores && { restores }),
      });
    } else if (wanted?.challenge !== undefined && wanted.to.version === own.version) {
      const found = await checkRuns(wanted, this.#deps);
      if (found !== undefined) releases.write('self-check', found);
    }
    return { inMs: 500 };
  }

  /** Decides whether a rollback restores the database copy.
   *  @returns `undefined` if the current database is kept, or `impossible` if there is no suitable copy */
  async #restores(
    { kind }: ActiveUpdate,
    to: Installed,
  ): Promise<Switch['restores'] | 'impossible'> {
    const { releases, own, database } = this.#deps;
    if (kind === 'update' || !bringsMigrations(own, to)) return undefined;
    const copy = releases.read('copy');
    if (copy?.of.version !== to.version) return 'impossible';
    const { stories } = await readUpdates(database);
    const by = stories.find(({ status }) => status === 'running')?.startedBy ?? 'An administrator';
    const count = await countEventsAfter(database, copy.madeAt);
    const reason = `${by} rolled back from ${own.version} to ${to.version}; events since ${copy.madeAt} were discarded: ${count}.`;
    return { updateId: copy.updateId, reason };
  }

  /** Removes the database copy of the last update once its rollback has expired or was discarded. */
  async #removeCopy(): Promise<void> {
    const { releases, clock, database } = this.#deps;
    const copy = releases.read('copy');
    if (copy === undefined) return;
    const updateId = copy.updateId as UpdateId;
    const { active, discarded } = (await readUpdates(database)).state;
    if (!discarded.includes(updateId)) {
      // Keeps the copy while an update is active, because a rollback needs it.
      if (active !== null || clock.now() < new Date(copy.expiresAt)) return;
      await this.#execute({ type: 'DiscardRollback', updateId, cause: 'expired' });
    }
    // Removes the copy's record last, so that an interrupted removal is repeated.
    await rm(copy.folder, { recursive: true, force: true });
    releases.remove('copy');
  }

  #target({ kind, to: version }: ActiveUpdate): Installed {
    const { releases } = this.#deps;
    const previous = releases.read('active')?.previous;
    if (kind === 'rollback' && previous?.version === version) return previous;
    return { version, folder: releases.folderOf(version) };
  }

  async #recordOutcome(): Promise<void> {
    const { releases, own } = this.#deps;
    const outcome = releases.read('outcome');
    if (outcome === undefined) return;
    const updateId = outcome.updateId as UpdateId;
    await this.#execute(
      outcome.kind === 'succeeded'
        ? { type: 'SucceedUpdate', updateId }
        : { type: 'RollUpdateBack', updateId, reason: outcome.reason },
    );
    await removeCheck(updateId, this.#deps);
    releases.remove('outcome');
    releases.prune(own);
  }

  get #provider(): UpdateProvider {
    const { provider } = this.#deps;
    if (provider === undefined)
      throw new Error('Updates are no longer configured. Set ORCH_UPDATE_URL and ORCH_UPDATE_KEY.');
    return provider;
  }

  get #downloads(): string {
    return join(this.#deps.releases.folder, 'downloads');
  }

  #artifactOf(version: string): string {
    return join(this.#downloads, `${version}.tar.gz`);
  }

  async #execute(command: UpdateCommand | StartBackup): Promise<Outcome> {
    const { commands, ids } = this.#deps;
    const updateId = 'updateId' in command ? command.updateId : undefined;
    return await commands.execute(command, systemContext('updater', ids.next(), updateId));
  }
}
