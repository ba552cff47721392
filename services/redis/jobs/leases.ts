/** Manages the leases of queue clients on runs. Leases are stored in the queue table, so all adapters share them
 *  (docs/adr/0017-jobs-of-other-programs.md). */
import { mustParse, parseCommandId, parseScriptId, type RunId } from '#domain/kernel/ids.ts';
import type { Commands, Outcome } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ClaimedRun, QueuedRun, RunQueue } from '#domain/ports/run-queue.ts';
import type { FinishRun } from '#domain/run/commands.ts';
import { platformError } from '#domain/run/error/error.ts';
import { noTotals } from '#domain/run/run.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { Clock } from '#domain/ports/clock.ts';
import { keptError, type KeptError } from '#services/shared/run-errors.ts';
import { groupsOf, type Caller } from '../callers.ts';
import { loggedError } from '../logs/logged-error.ts';
import { workerName, type Session } from '../session.ts';
import { findLease, logTotals, type LeaseRow } from '#infra/postgres/queue/jobs.ts';

export interface LeasesDeps {
  readonly queue: RunQueue;
  readonly commands: Commands;
  readonly database: Queryable;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The duration of a lease, unless the client renews it. */
  readonly leaseSeconds: number;
}

/** A leased run that has not been delivered yet. */
export interface Leased {
  /** The lease ID, which differs between successive leases on the same run. */
  readonly jobId: string;
  readonly owner: string;
  readonly run: ClaimedRun;
  readonly caller: Caller;
}

/** A valid lease of the caller on a run that has started. */
export interface Held extends Omit<LeaseRow, 'owner' | 'fence'> {
  readonly runId: RunId;
  readonly jobId: string;
  readonly owner: string;
  readonly fence: number;
}

/** The caller that holds the lease, and the caller's display name. */
export interface Holder {
  readonly caller: Caller;
  readonly session: Session;
}

export class Leases {
  readonly #deps: LeasesDeps;

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
  }

  get leaseSeconds(): number {
    return this.#deps.leaseSeconds;
  }

  /** Leases the next run that the caller may claim. Returns `undefined` if no run is available. */
  async claim(caller: Caller): Promise<Leased | undefined> {
    const { queue, ids, leaseSeconds } = this.#deps;
    const jobId = ids.next();
    const owner = `${ownersOf(caller)}${jobId}`;
    const [run] = await queue.claimInOrder(owner, 1, leaseSeconds, groupsOf(caller) ?? undefined);
    return run && { jobId, owner, run, caller };
  }

  /** Returns an undelivered run to the queue. */
  async release({ owner, run }: Leased): Promise<void> {
    await this.#deps.queue.release(owner, [run.runId]);
  }

  /** Records that a delivered run has started. Repeating it has no effect.
   *  @returns the run's fence, or `undefined` if the run has already ended */
  async start(
    { jobId, ...run }: QueuedRun & { readonly jobId: string },
    { caller, session }: Holder,
  ): Promise<number | undefined> {
    const { runId } = run;
    const outcome = await this.#deps.commands.execute(
      { type: 'StartRun', runId, runtimeId: workerName(session), layers: [] },
      { ...contextOf(run, caller, session), ...this.#once(runId, `start ${jobId}`) },
    );
    return outcome.kind === 'accepted' ? outcome.version : undefined;
  }

  /** Returns the caller's lease on a run, or `undefined` if another caller holds the lease or it has expired. */
  async held(runId: RunId, holder: Holder): Promise<Held | undefined> {
    const lease = await this.#find(runId, holder.caller);
    if (lease === undefined) return undefined;
    const { jobId, correlation_id: correlationId } = lease;
    // Records the start if a process crashed after it delivered the run. The caller must have received the run, because
    // it reports on it.
    const fence = lease.fence ?? (await this.start({ runId, correlationId, jobId }, holder));
    return fence === undefined ? undefined : { ...lease, runId, fence };
  }

  /** Returns the remaining seconds of the caller's lease. */
  async secondsLeft(runId: RunId, caller: Caller): Promise<number | undefined> {
    return (await this.#find(runId, caller))?.seconds_left;
  }

  /** @returns whether the caller still holds the lease */
  async renew({ owner, runId }: Held, seconds: number): Promise<boolean> {
    return (await this.#deps.queue.renew(owner, [runId], seconds)).length > 0;
  }

  /** Ends a run with the outcome that the lease holder reports. */
  async finish(
    held: Held,
    ending: Pick<FinishRun, 'outcome' | 'exitCode'>,
    { caller, session }: Holder,
  ): Promise<Outcome> {
    const { clock, commands, database } = this.#deps;
    const { runId, fence, started_at: startedAt, correlation_id: correlationId } = held;
    const durationMs = startedAt && Math.max(0, clock.now().getTime() - startedAt.getTime());
    const totals = { ...noTotals, durationMs, ...(await logTotals(database, runId)) };
    const error = await this.#errorOf(held, ending);
    return await commands.execute(
      {
        type: 'FinishRun',
        runId,
        fence,
        ...ending,
        signal: null,
        totals,
        ...(error && { error: error.fact }),
      },
      {
        ...contextOf({ runId, correlationId }, caller, session),
        ...this.#once(runId, `finish ${fence}`),
      },
      error?.content,
    );
  }

  async #errorOf(
    { runId, script_id: scriptId }: Held,
    { outcome, exitCode }: Pick<FinishRun, 'outcome' | 'exitCode'>,
  ): Promise<KeptError | undefined> {
    if (outcome === 'success' || outcome === 'stopped') return undefined;
    // An uncaught exception leads to exit code 1, or to none if the client reports none. With any other exit code, a
    // traceback in the log belongs to a handled exception.
    const canBeRaised = outcome === 'exit_code' && (exitCode === null || exitCode === 1);
    const raised = canBeRaised ? await loggedError(this.#deps.database, runId) : undefined;
    const isExit = outcome === 'exit_code' && exitCode !== null;
    const message = isExit ? `The script exited with exit code ${exitCode}.` : undefined;
    const error = raised ?? platformError(outcome, message);
    return keptError(error, mustParse(parseScriptId, scriptId));
  }

  async #find(runId: RunId, caller: Caller) {
    const lease = await findLease(this.#deps.database, runId);
    const owners = ownersOf(caller);
    if (lease?.owner?.startsWith(owners) !== true) return undefined;
    return { ...lease, owner: lease.owner, jobId: lease.owner.slice(owners.length) };
  }

  #once(runId: RunId, step: string) {
    const commandId = mustParse(parseCommandId, this.#deps.ids.derived(runId, step));
    return { commandId, fingerprint: step };
  }
}

/** Returns the common prefix of the owner IDs of a caller's leases. */
export function ownersOf({ key }: Pick<Caller, 'key'>): string {
  return `queue:${key}:`;
}

function contextOf({ correlationId }: QueuedRun, { actor }: Caller, { ip }: Session) {
  return { actor, ip, correlationId, causationId: null };
}
