/** The span of a request, with the HTTP conventions of OpenTelemetry. */
import { randomUUID } from 'node:crypto';
import { spanIdOf, type Tracing } from '#services/shared/tracing/tracing.ts';
import type { Exchange } from '../exchange.ts';

/** Requests to these paths get no spans, because monitoring programs poll them. */
const untraced = new Set(['/health', '/livez', '/readyz', '/metrics']);

/** Records the span of a request. @param tookMs duration so far */
export function traceRequest(exchange: Exchange, tookMs: number, tracing: Tracing): void {
  const { operation, request, response, trace, commandId } = exchange;
  if (!trace.isSampled || untraced.has(operation.path)) return;
  const endMs = Date.now();
  const { statusCode } = response;
  tracing.record({
    traceId: trace.traceId,
    // The span ID is derived from the command ID, so that a run can refer to the request that caused it.
    spanId: spanIdOf(commandId ?? randomUUID()),
    parentSpanId: trace.parentSpanId,
    hasRemoteParent: trace.parentSpanId !== undefined,
    name: `${request.method} ${operation.path}`,
    kind: 'server',
    startMs: endMs - tookMs,
    endMs,
    attributes: {
      'http.request.method': request.method,
      'http.route': operation.path,
      'http.response.status_code': statusCode,
      'error.type': statusCode >= 500 ? String(statusCode) : undefined,
    },
    problem: statusCode >= 500 ? `status ${statusCode}` : undefined,
  });
}
