/** What the backend counts, for Prometheus. Labels are templates of paths, never paths: ids would
 *  make a series each. */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  /** One answered request. */
  readonly observe: (method: string, route: string, status: number, seconds: number) => void;
  readonly openSockets: Gauge;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'orchestrator_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
    registers: [registry],
  });
  const openSockets = new Gauge({
    name: 'orchestrator_websockets_open',
    help: 'WebSockets that are open now.',
    registers: [registry],
  });
  return {
    registry,
    openSockets,
    observe: (method, route, status, seconds) =>
      requests.observe({ method, route, status: String(status) }, seconds),
  };
}
