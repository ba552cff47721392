/**
 * Executes one run from its claim to its final state, and reports every outcome. An error before the start causes the
 * run to fail or to be postponed. After a later error, the lease expires, and another process reports the run as lost.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { systemContext, type CommandContext } from '#domain/ports/commands.ts';
import { ObjectStoreUnavailable } from '#domain/ports/objects.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { AbandonRun, FinishRun } from '#domain/run/commands.ts';
import { platformError, type RunError } from '#domain/run/error/error.ts';
import { statusOf } from '#domain/run/run.ts';
import { isDatabaseAway } from '#infra/postgres/database-away.ts';
import { keptError } from '#services/shared/run-errors.ts';
import type { ExecutionDeps, Preparation } from './execution-deps.ts';
import type { RunLog } from './logs/run-log.ts';
import {
  endingNote,
  endingOf,
  sandboxFailure,
  totalsOf,
  unpreparedDetail,
  type Ending,
} from './outcome.ts';
import { RunTrace } from './run-trace.ts';
import { runErrorOf } from './run-error.ts';
import type { PreparedRun, RunExit, RunFile, RunObserver, RunSpec } from './sandbox/sandbox.ts';
import { SandboxError } from './sandbox/sandbox.ts';
import { untilRecorded } from './until-recorded.ts';
import { withVersionCode } from './version-code.ts';

/** `postponed` means that the run was not started, because a store was unavailable or the disk was full. */
export type Completion = 'done' | 'postponed';

/** Why an execution must be stopped. */
export type EndRequest = 'stop' | 'shutdown' | 'lost';

/**
 * Waits two turns of the event loop, so that sandbox preparation begins before the start is recorded. The preparation
 * takes longer than recording the start.
 */
async function afterConnecting(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

export class Execution {
  readonly run: ClaimedRun;
  readonly #deps: ExecutionDeps;
  readonly #trace: RunTrace;
  readonly #preparing = new AbortController();
  /** Aborts when another runtime takes over the run. This runtime must then stop writing to the run's log. */
  readonly #lost = new AbortController();
  #leaseEndsAtMs: number;
  #process: PreparedRun | undefined;
  #files: readonly RunFile[] = [];
  #request: EndRequest | undefined;

  /** @param leaseEndsAtMs the end of the lease on the monotonic clock */
  constructor(run: ClaimedRun, leaseEndsAtMs: number, deps: ExecutionDeps) {
    this.run = run;
    this.#leaseEndsAtMs = leaseEndsAtMs;
    this.#deps = deps;
    this.#trace = new RunTrace(run, deps);
  }

  /** Whether the run's process was started. */
  get started(): boolean {
    return this.#process !== undefined;
  }

  /** Executes the run. Rejects only if the run's outcome could not be recorded. */
  async complete(): Promise<Completion> {
    const log = this.#deps.openLog(this.run, this.#lost.signal);
    const preparation = await this.#prepare(log);
    if (preparation === undefined || preparation === 'postponed') {
      await this.#closeUnfinished(log);
      return preparation ?? 'done';
    }
    this.#trace.reached('preparedAt');
    if (preparation.kind === 'failed') {
      await this.#abandon(log, preparation.failure, preparation.detail);
      return 'done';
    }
    try {
      await this.#execute(preparation.spec, log);
      return 'done';
    } finally {
      preparation.release();
    }
  }

  /** Lets the process run until the end of the renewed lease.
   *  @param leaseEndsAtMs on the monotonic clock */
  renewed(leaseEndsAtMs: number): void {
    this.#leaseEndsAtMs = leaseEndsAtMs;
    this.#process?.heartbeat(this.#leaseMs);
  }

  /** Stops the run: gracefully if a user requested it, or immediately if the lease is lost. */
  end(request: EndRequest): void {
    this.#request ??= request;
    this.#preparing.abort(new Error(`the run is being stopped (${request})`));
    if (request === 'lost') {
      this.#lost.abort(new Error('this runtime no longer holds the lease on the run'));
      this.#process?.kill();
    } else {
      this.#process?.stop();
    }
  }

  /** The fields that identify the run in the log of the runtime process. */
  get #named() {
    const { runId, correlationId, scriptName } = this.run;
    return { runId, trace_id: correlationId, script_name: scriptName };
  }

  get #leaseMs(): number {
    return Math.max(0, this.#leaseEndsAtMs - performance.now());
  }

  async #prepare(log: RunLog): Promise<Preparation | 'postponed' | undefined> {
    const { prepare, hasRoom, logger } = this.#deps;
    try {
      return await prepare(this.run, log, this.#preparing.signal);
    } catch (error) {
      if (this.#request !== undefined) return undefined;
      const isStoreAway = error instanceof ObjectStoreUnavailable || isDatabaseAway(error);
      // An unavailable store or a full disk is not the run's fault, so the attempt does not count.
      if (isStoreAway || !(await hasRoom())) {
        logger.warn({ error, ...this.#named }, 'run is waiting for a store or for disk space');
        return 'postponed';
      }
      logger.error({ error, ...this.#named }, 'run could not be prepared');
      return {
        kind: 'failed',
        failure: 'sandbox_error',
        // A build that the sandbox could not execute has the same message as a run that the sandbox could not execute.
        detail: error instanceof SandboxError ? sandboxFailure(error) : unpreparedDetail(error),
      };
    }
  }

  async #execute(spec: RunSpec, log: RunLog): Promise<void> {
    this.#files = spec.files;
    const sampling = this.#deps.openSampling(this.run);
    const observer: RunObserver = {
      output: (stream, chunk) => log.write(stream, chunk),
      sample: (sample) => sampling.take(sample),
    };
    if (this.#request !== undefined) {
      await this.#closeUnfinished(log);
      return;
    }
    // Prepares the process while the start is being recorded. The script executes once both are done.
    const [process, start] = await Promise.allSettled([
      this.#deps.sandbox.prepare(spec, observer),
      afterConnecting().then(() => this.#recordStart()),
    ]);
    if (process.status === 'rejected') {
      sampling.end();
      await this.#endUnprepared(process.reason, start, log);
      return;
    }
    const prepared = process.value;
    void prepared.finished.then(() => sampling.end());
    try {
      if (start.status === 'rejected') throw start.reason;
      await this.#run(prepared, start.value, log);
    } finally {
      prepared.kill();
      await prepared.closed;
    }
  }

  async #endUnprepared(
    reason: unknown,
    start: PromiseSettledResult<number | undefined>,
    log: RunLog,
  ): Promise<void> {
    if (!(reason instanceof SandboxError)) throw reason;
    if (start.status === 'rejected') throw start.reason;
    if (start.value === undefined) {
      await this.#closeUnfinished(log);
      return;
    }
    const { stage, message } = reason;
    await this.#recordEnd(log, { kind: 'failed', stage, message }, start.value, 0);
  }

  async #run(prepared: PreparedRun, fence: number | undefined, log: RunLog): Promise<void> {
    if (fence === undefined) {
      await this.#closeUnfinished(log);
      return;
    }
    this.#process = prepared;
    const startedAt = performance.now();
    prepared.heartbeat(this.#leaseMs);
    prepared.go();
    this.#trace.reached('startedAt');
    this.#deps.metrics.started(this.run.queuedAt);
    // A stop may have been requested while the start was being recorded.
    if (this.#request !== undefined) this.end(this.#request);
    const exit = await prepared.finished;
    this.#trace.reached('exitedAt');
    // Uses this process's measurement if the sandbox has not reported a duration.
    const durationMs =
      exit.kind === 'exited' ? exit.usage.durationMs : Math.round(performance.now() - startedAt);
    // Another runtime has taken over the run, and reports its outcome.
    if (this.#lost.signal.aborted) return;
    await this.#recordEnd(log, exit, fence, durationMs);
  }

  /** Stores the log of a run that failed before its process started. */
  async #closeUnfinished(log: RunLog): Promise<void> {
    if (!this.#lost.signal.aborted) await log.close();
  }

  /** Records the start.
   *  @returns the run's fencing token, or `undefined` if the run can no longer be started */
  async #recordStart(): Promise<number | undefined> {
    const outcome = await this.#deps.commands.execute(
      {
        type: 'StartRun',
        runId: this.run.runId,
        runtimeId: this.#deps.runtimeId,
        layers: this.#deps.sandbox.layers,
        timing: this.#trace.timing,
      },
      this.#context('start'),
    );
    return outcome.kind === 'accepted' ? outcome.version : undefined;
  }

  async #recordEnd(log: RunLog, exit: RunExit, fence: number, durationMs: number): Promise<void> {
    const shuttingDown = this.#request === 'shutdown';
    const note = endingNote(exit, shuttingDown);
    if (note !== undefined) await log.system(note);
    const totals = totalsOf(await log.close(), exit, durationMs);
    const ending = endingOf(exit, shuttingDown);
    const error = await this.#errorOf(ending, note, log);
    const { timing } = this.#trace;
    const { runId } = this.run;
    await this.#record('finish', error, {
      type: 'FinishRun',
      runId,
      fence,
      ...ending,
      totals,
      timing,
    });
    this.#ended(ending.outcome, durationMs);
  }

  /** Returns the error of the run.
   *  @param log the closed log of the run, whose texts are read only after a failure */
  async #errorOf(ending: Ending, note: string | undefined, log: RunLog) {
    if (statusOf(ending.outcome) !== 'failed') return undefined;
    const raised = runErrorOf({
      ending,
      note: note && log.masked(note),
      errorText: log.errorText(),
      outputText: log.outputText(),
      reported: this.#deps.reportedErrors.find(this.run, ending.exitCode),
      workspace: this.#process?.workspace,
    });
    return raised && (await withVersionCode(raised, this.#files, (text) => log.masked(text)));
  }

  #ended(outcome: FinishRun['outcome'] | AbandonRun['failure'], durationMs: number) {
    const { metrics, onLogEnd } = this.#deps;
    this.#trace.ended();
    metrics.ended(outcome, durationMs / 1000);
    onLogEnd(this.run);
  }

  async #abandon(log: RunLog, failure: AbandonRun['failure'], detail: string): Promise<void> {
    await log.system(detail);
    const totals = totalsOf(await log.close());
    const error = platformError(failure, log.masked(detail));
    const { runId } = this.run;
    const { timing } = this.#trace;
    await this.#record('abandon', error, { type: 'AbandonRun', runId, failure, totals, timing });
    this.#ended(failure, 0);
  }

  /** Records the run's outcome together with its error. */
  async #record(
    step: string,
    error: RunError | undefined,
    end: FinishRun | AbandonRun,
  ): Promise<void> {
    const { commands, logger } = this.#deps;
    const kept = error && keptError(error, this.run.scriptId);
    const command = kept ? { ...end, error: kept.fact } : end;
    const outcome = await untilRecorded(
      () => commands.execute(command, this.#context(step), kept?.content),
      (problem) => logger.warn({ error: problem, ...this.#named, step }, 'report is delayed'),
    );
    if (outcome.kind === 'refused') {
      const { code } = outcome.refusal;
      logger.warn({ ...this.#named, step, code }, 'report was rejected');
    }
  }

  #context(step: string): CommandContext {
    const { runId, attempt, correlationId } = this.run;
    const commandId = this.#deps.ids.derived(runId, `${step} ${attempt}`);
    return systemContext('runtime', commandId, correlationId);
  }
}
