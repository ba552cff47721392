/** A collector for tests that receives traces and metrics over OTLP, with HTTP and gRPC. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import * as grpc from '@grpc/grpc-js';
import {
  decodeMetrics,
  decodeTraces,
  type Attribute,
  type CollectedMetric,
  type Span,
} from './otlp-messages.ts';

export interface CollectedSpan extends Span {
  readonly service: string;
}

const services = '/opentelemetry.proto.collector';

export class Collector {
  readonly spans: CollectedSpan[] = [];
  readonly metrics: CollectedMetric[] = [];
  readonly resources: (readonly Attribute[])[] = [];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  /** The statuses of the next HTTP responses. After these, every response has the status 200. */
  readonly statuses: number[] = [];
  readonly #server: Server;
  readonly #grpc = new grpc.Server();
  #grpcPort = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      buffer(request).then(
        (body) => {
          const { headers, url: path = '' } = request;
          this.requests.push({ path, headers });
          const status = this.statuses.shift() ?? 200;
          const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
          if (status === 200) this.#take(path, bytes);
          response.writeHead(status, { 'Content-Type': 'application/x-protobuf' }).end();
        },
        () => response.destroy(),
      );
    });
    this.#grpc.addService(
      Object.fromEntries(
        [`${services}.trace.v1.TraceService`, `${services}.metrics.v1.MetricsService`].map(
          (path) => [path, methodOf(`${path}/Export`)],
        ),
      ),
      Object.fromEntries(
        [`${services}.trace.v1.TraceService`, `${services}.metrics.v1.MetricsService`].map(
          (path) => [path, this.#answer(path)],
        ),
      ),
    );
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    const credentials = grpc.ServerCredentials.createInsecure();
    collector.#grpcPort = await new Promise((resolve, reject) => {
      collector.#grpc.bindAsync('127.0.0.1:0', credentials, (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get grpcUrl(): string {
    return `http://127.0.0.1:${this.#grpcPort}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#grpc.forceShutdown();
  }

  #answer(path: string): grpc.handleUnaryCall<Buffer, Buffer> {
    return ({ request, metadata }, done) => {
      this.requests.push({ path, headers: metadata.toHttp2Headers() as IncomingHttpHeaders });
      this.#take(path, request);
      done(null, Buffer.alloc(0));
    };
  }

  #take(path: string, bytes: Uint8Array): void {
    if (/metrics/i.test(path)) {
      for (const { resource, scopeMetrics } of decodeMetrics(bytes).resourceMetrics) {
        this.resources.push(resource.attributes);
        this.metrics.push(...scopeMetrics.flatMap(({ metrics }) => metrics));
      }
      return;
    }
    for (const { resource, scopeSpans } of decodeTraces(bytes).resourceSpans) {
      this.resources.push(resource.attributes);
      const named = resource.attributes.find(({ key }) => key === 'service.name');
      const service = named?.value.stringValue ?? '';
      const spans = scopeSpans.flatMap((scope) => scope.spans);
      this.spans.push(...spans.map((span) => ({ ...span, service })));
    }
  }
}

const same = (bytes: Buffer) => bytes;

function methodOf(path: string): grpc.MethodDefinition<Buffer, Buffer> {
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}
