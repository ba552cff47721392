/** The backend's Prometheus metrics. Labels contain path templates instead of paths, because each path would create
 *  its own series. Durations have no status label, because it would multiply the buckets. */
import type { ConnectionLimits } from '#services/shared/connections/connection-limits.ts';
import { addRunEndMetric } from '#services/shared/process-metrics.ts';
import type { RunEnds } from '#services/shared/run-ends.ts';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Operation } from './operation.ts';

export interface Metrics {
  readonly registry: Registry;
  /** Records a completed request. */
  readonly observe: (
    operation: Pick<Operation, 'method' | 'path'>,
    status: number,
    seconds: number,
  ) => void;
  readonly openSockets: Gauge;
}

/** @param connections the server's connections */
export function createMetrics(connections: ConnectionLimits, runEnds: RunEnds): Metrics {
  const registry = new Registry();
  addRunEndMetric(registry, runEnds);
  addConnectionMetrics(registry, connections);
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'orchestrator_http_request_duration_seconds',
    help: 'Time from the request headers to the end of the response.',
    labelNames: ['method', 'route'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  });
  const requests = new Counter({
    name: 'orchestrator_http_requests_total',
    help: 'Number of responses sent.',
    labelNames: ['method', 'route', 'status'] as const,
    registers: [registry],
  });
  const openSockets = new Gauge({
    name: 'orchestrator_websockets_open',
    help: 'Open WebSockets.',
    registers: [registry],
  });
  return {
    registry,
    openSockets,
    observe: (operation, status, seconds) => {
      const labels = { method: operation.method.toUpperCase(), route: operation.path };
      durations.observe(labels, seconds);
      requests.inc({ ...labels, status: String(status) });
    },
  };
}

function addConnectionMetrics(registry: Registry, connections: ConnectionLimits): void {
  const registers = [registry];
  new Gauge({
    name: 'orchestrator_connections_open',
    help: 'Open connections of the HTTP server, including WebSockets.',
    registers,
    collect() {
      this.set(connections.open);
    },
  });
  new Gauge({
    name: 'orchestrator_connections_limit',
    help: 'Connection limit of the HTTP server.',
    registers,
  }).set(connections.limit);
  new Counter({
    name: 'orchestrator_connections_closed_total',
    help: 'Connections closed or rejected because of a limit or timeout.',
    labelNames: ['reason'] as const,
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of connections.closed) this.inc({ reason }, count);
    },
  });
}
