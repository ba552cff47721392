import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { openTracing, spanIdOf, traceIdOf, type Span } from './tracing.ts';

const span: Span = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  parentSpanId: 'a2fb4a1d1a96d312',
  name: 'RUN Report',
  kind: 'server',
  startMs: 1_795_342_679_123.5,
  endMs: 1_795_342_680_000,
  attributes: { 'cicd.pipeline.name': 'Report', code: 7, share: 0.5, ok: false, none: undefined },
  problem: 'exit_code',
};

/** A collector that answers with these, in turn, and then with 200. */
async function collector(statuses: readonly number[]) {
  const left = [...statuses];
  const received: { body: unknown; headers: unknown; url: string | undefined }[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      received.push({ body, headers: request.headers, url: request.url });
      response.writeHead(left.shift() ?? 200).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    received,
    otlpEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => void (await once(server.close(), 'close')),
  };
}

function tracingTo(otlpEndpoint: string | undefined, dropped: unknown[] = []) {
  const logger = { warn: (fields: unknown) => void dropped.push(fields) };
  const config = {
    otlpEndpoint,
    otlpHeaders: 'x-key=a%20b,other=c=d',
    otelResource: 'deployment.environment.name=test',
  };
  return openTracing('backend', config, logger);
}

test('a span arrives as the protocol has it, and once more after an answer that says so', async () => {
  await using server = await collector([503]);
  const tracing = await tracingTo(server.otlpEndpoint);
  tracing?.record(span);
  await tracing?.close();
  expect(server.received).toHaveLength(2);
  const { body, headers, url } = server.received[1]!;
  expect(url).toBe('/v1/traces');
  expect(headers).toMatchObject({
    'x-key': 'a b',
    other: 'c=d',
    'content-type': 'application/json',
  });
  expect(body).toEqual({
    resourceSpans: [
      {
        resource: {
          attributes: [
            { key: 'service.namespace', value: { stringValue: 'orchestrator' } },
            { key: 'deployment.environment.name', value: { stringValue: 'test' } },
            { key: 'service.name', value: { stringValue: 'orchestrator-backend' } },
          ],
        },
        scopeSpans: [
          {
            scope: { name: 'orchestrator', version: expect.any(String) },
            spans: [
              {
                traceId: span.traceId,
                spanId: span.spanId,
                parentSpanId: span.parentSpanId,
                name: 'RUN Report',
                kind: 2,
                startTimeUnixNano: '1795342679123500000',
                endTimeUnixNano: '1795342680000000000',
                attributes: [
                  { key: 'cicd.pipeline.name', value: { stringValue: 'Report' } },
                  { key: 'code', value: { intValue: '7' } },
                  { key: 'share', value: { doubleValue: 0.5 } },
                  { key: 'ok', value: { boolValue: false } },
                ],
                status: { code: 2, message: 'exit_code' },
              },
            ],
          },
        ],
      },
    ],
  });
});

test('what is refused, or finds no room, is dropped and told', async () => {
  await using server = await collector([400]);
  const dropped: unknown[] = [];
  const tracing = await tracingTo(server.otlpEndpoint, dropped);
  for (let count = 0; count < 4_100; count += 1) tracing?.record(span);
  await tracing?.close();
  expect(server.received).toHaveLength(8);
  expect(dropped).toEqual([
    { count: 512, reason: `${server.otlpEndpoint}v1/traces answered 400` },
    { count: 4, reason: 'too many at once' },
  ]);
});

test('a collector that is away holds nobody up', async () => {
  const [port] = await freePorts(1);
  const dropped: unknown[] = [];
  const tracing = await tracingTo(`http://127.0.0.1:${port}`, dropped);
  tracing?.record(span);
  await tracing?.close();
  expect(dropped).toEqual([{ count: 1, reason: expect.stringContaining('ECONNREFUSED') }]);
  expect(await tracingTo(undefined)).toBeUndefined();
});

test('ids of traces and spans follow from those of requests and runs', () => {
  expect(traceIdOf('019AA3F4-01aa-7c11-8d22-5e6f70819203')).toBe(
    '019aa3f401aa7c118d225e6f70819203',
  );
  expect(traceIdOf('any')).toBeUndefined();
  expect(traceIdOf('0'.repeat(32))).toBeUndefined();
  expect(spanIdOf('019aa3f4-01aa-7c11-8d22-5e6f70819203')).toBe('8d225e6f70819203');
});
