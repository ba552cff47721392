/** Writes the logs of finished runs to standard output for log aggregation. Each log line becomes a line of JSON
 *  (contract §3, "Run log"). Logs are read from storage one run at a time, in bounded memory. */
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { RunLogs } from '#domain/ports/run-logs.ts';
import type { Logger } from '#services/shared/logger.ts';

export interface ForwardingDeps {
  readonly store: Pick<RunLogs, 'read'>;
  /** Writes a text. Resolves when more text can be written. */
  readonly write: (text: string) => Promise<void>;
  readonly logger: Pick<Logger, 'warn'>;
}

const linesPerPage = 500;
/** The maximum number of queued runs. Logs beyond this limit are not forwarded, but remain in storage. */
const maxWaiting = 1_000;

export class ForwardedLogs {
  readonly #deps: ForwardingDeps;
  readonly #waiting: ClaimedRun[] = [];
  #working: Promise<void> | undefined;

  constructor(deps: ForwardingDeps) {
    this.#deps = deps;
  }

  /** Queues a run whose complete log is stored. */
  add(run: ClaimedRun): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#deps.logger.warn(
        { runId: run.runId, script_name: run.scriptName },
        'run log is not forwarded: too many logs are pending',
      );
      return;
    }
    this.#waiting.push(run);
    this.#working ??= this.#work().finally(() => (this.#working = undefined));
  }

  /** Resolves when all queued logs have been written. */
  async settle(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let run = this.#waiting.shift(); run !== undefined; run = this.#waiting.shift()) {
      const { runId, scriptName } = run;
      await this.#forward(run).catch((error: unknown) => {
        this.#deps.logger.warn(
          { error, runId, script_name: scriptName },
          'run log was forwarded only in part',
        );
      });
    }
  }

  async #forward(run: ClaimedRun): Promise<void> {
    const { store, write } = this.#deps;
    const { runId, scriptId, scriptName } = run;
    const common = { service: 'runtime', message: 'run log', trace_id: run.correlationId };
    for (let fromSeq = 1, more = true; more;) {
      const page = await store.read(runId, { fromSeq, limit: linesPerPage });
      const lines = page.items.map((item) =>
        JSON.stringify({
          ...item,
          level: item.level ?? 'info',
          ...common,
          run_id: runId,
          script_id: scriptId,
          script_name: scriptName,
        }),
      );
      if (lines.length > 0) await write(`${lines.join('\n')}\n`);
      fromSeq = page.nextSeq;
      ({ more } = page);
    }
  }
}
