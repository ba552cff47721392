/** Dependencies of `Execution`. */
import type { Clock } from '#domain/ports/clock.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { AbandonRun } from '#domain/run/commands.ts';
import type { Logger } from '#services/shared/logger.ts';
import type { Tracing } from '#services/shared/tracing/tracing.ts';
import type { RunLog } from './logs/run-log.ts';
import type { RunMetrics } from './metrics.ts';
import type { ReportedErrors } from './reported-errors.ts';
import type { RunSampling } from './samples/sample-recorder.ts';
import type { RunSpec, Sandbox } from './sandbox/sandbox.ts';

export interface ExecutionDeps {
  readonly runtimeId: string;
  readonly commands: Commands;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly sandbox: Sandbox;
  readonly openLog: (run: ClaimedRun, signal: AbortSignal) => RunLog;
  readonly openSampling: (run: ClaimedRun) => RunSampling;
  /** Prepares the environment and the files. Output goes to the log. */
  readonly prepare: (run: ClaimedRun, log: RunLog, signal: AbortSignal) => Promise<Preparation>;
  /** Whether the disk has enough space for runs. */
  readonly hasRoom: () => Promise<boolean>;
  readonly reportedErrors: Pick<ReportedErrors, 'find'>;
  readonly metrics: RunMetrics;
  readonly tracing: Tracing | undefined;
  /** Called after a run's complete log has been stored. */
  readonly onLogEnd: (run: ClaimedRun) => void;
  readonly logger: Logger;
}

export type Preparation =
  | { readonly kind: 'ready'; readonly spec: RunSpec; readonly release: () => void }
  | { readonly kind: 'failed'; readonly failure: AbandonRun['failure']; readonly detail: string };
