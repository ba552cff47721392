/** The progress of runs as the API shows it, with an estimate of their end. */
import type { ReportedProgress } from '#infra/postgres/logs/run-reports.ts';

/** Below this fraction, an estimate would be a guess. */
const minFraction = 0.01;

interface RunTimes {
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
}

export function progressJson(run: RunTimes, progress: ReportedProgress | null | undefined) {
  if (!progress) return null;
  const { fraction, text } = progress;
  return { fraction, text, eta: etaOf(run, progress) };
}

/** The time of the report plus the time that the rest takes at the average speed up to the report.
 *  @returns null for a run that has ended, below 1 % and at 100 % */
function etaOf(run: RunTimes, { fraction, reportedAt }: ReportedProgress): Date | null {
  const { started_at: startedAt, finished_at: finishedAt } = run;
  if (startedAt === null || reportedAt === null || finishedAt !== null) return null;
  if (fraction < minFraction || fraction >= 1) return null;
  const elapsedMs = Math.max(0, reportedAt.getTime() - startedAt.getTime());
  return new Date(reportedAt.getTime() + Math.round((elapsedMs * (1 - fraction)) / fraction));
}
