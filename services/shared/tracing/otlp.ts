/** Exports spans and metrics over OTLP with the OpenTelemetry SDK. This module is loaded only if an endpoint is
 *  configured. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import type { Logger } from '../logger.ts';
import { openMetricExporter, openSpanExporter } from './exporters.ts';
import { OtlpSpans } from './otlp-spans.ts';
import { pairsOf, type Telemetry, type TelemetryConfig } from './tracing.ts';

const closeMs = 5_000;

interface Closing {
  close(): Promise<void>;
}

/** @param service the service name, such as `backend` */
export async function startTelemetry(
  service: string,
  config: TelemetryConfig,
  logger: Pick<Logger, 'warn'>,
): Promise<Telemetry> {
  const ignore = () => undefined;
  const warn = (reason: string) => logger.warn({ reason }, 'telemetry error');
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  setGlobalErrorHandler((error) => logger.warn({ error }, 'telemetry error'));
  const resource = resourceOf(service, config);
  const exporter = await openSpanExporter(config);
  const tracing = exporter && new OtlpSpans({ exporter, resource, config, logger });
  const metricExporter = await openMetricExporter(config);
  const closing: Closing[] = tracing === undefined ? [] : [tracing];
  return {
    tracing,
    exportMetrics: (registry) => {
      if (metricExporter === undefined) return;
      const opening = import('./otlp-metrics.ts').then(({ OtlpMetrics }) => {
        return new OtlpMetrics({ exporter: metricExporter, registry, resource, config });
      });
      closing.push({ close: async () => (await opening).close() });
    },
    close: async () => {
      const giveUp = pause(closeMs, undefined, { ref: false });
      const closed = Promise.allSettled(closing.map((one) => one.close()));
      await Promise.race([closed, giveUp]);
    },
  };
}

/** `OTEL_SERVICE_NAME` overrides `OTEL_RESOURCE_ATTRIBUTES`, and both override the defaults. */
function resourceOf(service: string, config: TelemetryConfig): Resource {
  const { otelResource, otelServiceName } = config;
  return resourceFromAttributes({
    'service.namespace': 'orchestrator',
    'service.name': `orchestrator-${service}`,
    'service.instance.id': randomUUID(),
    'orchestrator.process': service,
    ...pairsOf(otelResource),
    ...(otelServiceName !== undefined && { 'service.name': otelServiceName }),
  });
}
