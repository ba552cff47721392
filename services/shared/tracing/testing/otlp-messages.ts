/** The OTLP messages that the platform exports, for test collectors (opentelemetry-proto 1.x). */
import protobuf from 'protobufjs';

const { root } = protobuf.parse(
  `syntax = "proto3";
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message Scope { string name = 1; string version = 2; }
  message Status { string message = 2; int32 code = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; Status status = 15;
  }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Traces { repeated ResourceSpans resource_spans = 1; }
  message Point { repeated KeyValue attributes = 7; double as_double = 4; sfixed64 as_int = 6; }
  message Gauge { repeated Point data_points = 1; }
  message Sum { repeated Point data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
  message HistogramPoint {
    fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6;
    repeated double explicit_bounds = 7; repeated KeyValue attributes = 9;
  }
  message Histogram { repeated HistogramPoint data_points = 1; }
  message Metric { string name = 1; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
  message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
  message Metrics { repeated ResourceMetrics resource_metrics = 1; }`,
);

export interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly boolValue?: boolean;
    readonly intValue?: string;
    readonly doubleValue?: number;
  };
}
interface Point {
  readonly attributes?: readonly Attribute[];
  readonly asDouble?: number;
  readonly asInt?: string;
}
export interface CollectedMetric {
  readonly name: string;
  readonly gauge?: { readonly dataPoints: readonly Point[] };
  readonly sum?: { readonly dataPoints: readonly Point[]; readonly isMonotonic: boolean };
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly count: string;
      readonly sum: number;
      readonly bucketCounts: readonly string[];
      readonly explicitBounds: readonly number[];
    }[];
  };
}
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status?: { readonly code?: number; readonly message?: string };
}
interface Resource {
  readonly attributes: readonly Attribute[];
}
export interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}
export interface Metrics {
  readonly resourceMetrics: readonly {
    readonly resource: Resource;
    readonly scopeMetrics: readonly { readonly metrics: readonly CollectedMetric[] }[];
  }[];
}

function decode(name: string, bytes: Uint8Array): unknown {
  const type = root.lookupType(name);
  return type.toObject(type.decode(bytes), { longs: String, bytes: String, arrays: true });
}

const hexOf = (base64: string) => Buffer.from(base64, 'base64').toString('hex');

/** Decodes a trace export request, with IDs as hexadecimal text. */
export function decodeTraces(bytes: Uint8Array): Traces {
  const { resourceSpans } = decode('Traces', bytes) as Traces;
  const spanOf = ({ parentSpanId, ...span }: Span): Span => ({
    ...span,
    traceId: hexOf(span.traceId),
    spanId: hexOf(span.spanId),
    ...(parentSpanId !== undefined && { parentSpanId: hexOf(parentSpanId) }),
  });
  return {
    resourceSpans: resourceSpans.map(({ scopeSpans, ...rest }) => ({
      ...rest,
      scopeSpans: scopeSpans.map(({ spans }) => ({ spans: spans.map(spanOf) })),
    })),
  };
}

/** Decodes a metrics export request. */
export const decodeMetrics = (bytes: Uint8Array): Metrics => decode('Metrics', bytes) as Metrics;
