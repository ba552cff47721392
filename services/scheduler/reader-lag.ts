/** Measures the lag of event store readers for Prometheus and the health check. */
import { feederName } from '#infra/postgres/readers/feeder.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readerLags, type ReaderLag } from '#infra/postgres/readers/store-health.ts';
import { Gauge, type Registry } from 'prom-client';

const toleratedLagSeconds = 60;

/** Describes which readers lag, or undefined if none does. After a pause of the whole service, readers get some time to
 *  catch up. The event feed is excluded, because its problems are reported separately. */
export async function lagProblem(
  db: Queryable,
  uptimeSeconds: number,
): Promise<string | undefined> {
  const late = (await readerLags(db)).filter(
    ({ name, seconds }) =>
      name !== feederName && Math.min(seconds, uptimeSeconds) > toleratedLagSeconds,
  );
  if (late.length === 0) return undefined;
  const lags = late.map(
    ({ name, events, seconds }) =>
      `${name} is ${events} events and ${Math.round(seconds)} s behind`,
  );
  return `${lags.join(', ')}: a transaction may be open for long, or an event cannot be applied`;
}

/** Adds metrics for each reader's lag, measured at each scrape. */
export function addLagMetrics(db: Queryable, registry: Registry): void {
  const gauge = (name: string, help: string, valueOf: (lag: ReaderLag) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['reader'] as const,
      registers: [registry],
      async collect() {
        for (const lag of await readerLags(db)) this.set({ reader: lag.name }, valueOf(lag));
      },
    });
  gauge(
    'orchestrator_projection_lag_events',
    'Events not yet read by an event reader, counted up to 10,000',
    (lag) => lag.events,
  );
  gauge(
    'orchestrator_projection_lag_seconds',
    'Age of the oldest event not yet read by an event reader',
    (lag) => lag.seconds,
  );
}
