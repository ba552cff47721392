/** Sends spans by OTLP over HTTP, in JSON (opentelemetry.io/docs/specs/otlp). Spans wait in bounded memory
 *  and go in batches; a collector that is away costs spans, never time. */
import { setTimeout as pause } from 'node:timers/promises';
import { version } from '../version.ts';
import type { AttributeValue, Span, Tracing } from './tracing.ts';

export interface OtlpExporterOptions {
  /** Of the collector; `/v1/traces` is added. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  /** Spans that will never arrive. */
  readonly onDropped: (count: number, reason: string) => void;
}

const maxWaiting = 4_096;
const batchSize = 512;
const gatherMs = 1_000;
const answerMs = 10_000;
const tries = 4;
const retryMs = 1_000;
const closeMs = 5_000;
const again = new Set([429, 502, 503, 504]);

export class OtlpExporter implements Tracing {
  readonly #options: OtlpExporterOptions;
  readonly #url: string;
  readonly #closing = new AbortController();
  #waiting: Span[] = [];
  #dropped = 0;
  #sending: Promise<void> | undefined;

  constructor(options: OtlpExporterOptions) {
    this.#options = options;
    this.#url = `${options.endpoint.replace(/\/$/, '')}/v1/traces`;
  }

  record(span: Span): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const giveUp = pause(closeMs, undefined, { ref: false });
    await Promise.race([this.#sending, giveUp]);
  }

  async #sendAll(): Promise<void> {
    const { signal } = this.#closing;
    // What is recorded at about the same time goes together; at the end nothing waits.
    await pause(gatherMs, undefined, { signal, ref: false }).catch(() => undefined);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchSize);
      this.#waiting = this.#waiting.slice(batchSize);
      const problem = await this.#send(batch);
      if (problem !== undefined) this.#options.onDropped(batch.length, problem);
    }
    if (this.#dropped > 0) this.#options.onDropped(this.#dropped, 'too many at once');
    this.#dropped = 0;
  }

  /** @returns why they will not arrive */
  async #send(spans: readonly Span[]): Promise<string | undefined> {
    const body = JSON.stringify(requestOf(spans, this.#options.resource));
    let problem: string | undefined;
    for (let attempt = 0; attempt < tries; attempt += 1) {
      if (attempt > 0) {
        const { signal } = this.#closing;
        await pause(retryMs * 2 ** attempt, undefined, { signal, ref: false }).catch(
          () => undefined,
        );
      }
      const status = await this.#post(body).catch((error: unknown) => reasonOf(error));
      if (status === 200 || status === 202) return undefined;
      problem = typeof status === 'number' ? `${this.#url} answered ${status}` : status;
      if (typeof status === 'number' && !again.has(status)) return problem;
    }
    return problem;
  }

  async #post(body: string): Promise<number> {
    const answer = await fetch(this.#url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...this.#options.headers },
      body,
      signal: AbortSignal.timeout(answerMs),
      redirect: 'error',
    });
    await answer.body?.cancel();
    return answer.status;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** `ExportTraceServiceRequest` as JSON: ids in hexadecimal, 64-bit numbers as text. */
function requestOf(spans: readonly Span[], resource: Readonly<Record<string, string>>) {
  return {
    resourceSpans: [
      {
        resource: {
          attributes: attributesOf({ 'service.namespace': 'orchestrator', ...resource }),
        },
        scopeSpans: [{ scope: { name: 'orchestrator', version }, spans: spans.map(jsonOf) }],
      },
    ],
  };
}

const kinds = { internal: 1, server: 2 } as const;
const errorCode = 2;

function jsonOf({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, ...span }: Span) {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: attributesOf(span.attributes),
    ...(span.problem !== undefined && { status: { code: errorCode, message: span.problem } }),
  };
}

function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

function attributesOf(attributes: Readonly<Record<string, AttributeValue | undefined>>) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(value) }],
  );
}

function valueOf(value: AttributeValue) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
