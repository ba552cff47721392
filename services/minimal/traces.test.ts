/** Tests traces of runs whose end no runtime recorded. The process that recorded the end must export the trace. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { complete, jobs, popped } from '#services/redis/testing/jobs.ts';
import { RawClient } from '#services/redis/testing/raw-client.ts';
import { Collector, type CollectedSpan } from '#services/shared/tracing/testing/collector.ts';
import { Product, until } from './testing/product.ts';

let collector: Collector;
let product: Product;
let client: RawClient;
beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  collector = await Collector.start();
  product = await Product.start({
    variables: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      ORCH_REDIS_PORT: String(port),
      ORCH_RUNTIME_SLOTS: '0',
    },
  });
  client = await RawClient.open(port);
  const password = join(product.dataDir, 'secrets', 'ORCH_REDIS_PASSWORD');
  await client.call('AUTH', (await readFile(password, 'utf8')).trim());
});
afterAll(async () => {
  client.socket.destroy();
  await product.stop();
  collector.stop();
  await product.remove();
});

const attribute = ({ attributes }: CollectedSpan, key: string) =>
  attributes.find((one) => one.key === key)?.value.stringValue;

/** Returns the name of the parent span once it is exported. */
const parentOf = ({ parentSpanId }: CollectedSpan) =>
  until('the span above was sent', async () =>
    collector.spans.find(({ spanId }) => spanId === parentSpanId),
  ).then(({ name }) => name);

/** Finds a run's span, and the names of its child spans. */
async function traced(runId: string) {
  const run = await until('the run was traced', async () =>
    collector.spans.find(
      (span) => attribute(span, 'cicd.pipeline.run.id') === runId && span.name.startsWith('RUN '),
    ),
  );
  const ofTrace = collector.spans.filter(({ traceId }) => traceId === run.traceId);
  const below = ofTrace.filter(({ parentSpanId }) => parentSpanId === run.spanId);
  return {
    told: {
      service: run.service,
      result: attribute(run, 'cicd.pipeline.result'),
      error: attribute(run, 'error.type'),
      steps: below.map(({ name }) => name),
    },
    run,
  };
}

describe('runs that queue clients execute', () => {
  test('have a trace from the queue adapter when the client reports the outcome', async () => {
    const id = await product.script('By a client', { 'main.py': '' });
    const { run_id: runId } = await product.run(id);
    const job = await popped(client);
    expect(job.run_id).toBe(runId);
    await complete(client, runId, { status: 'failed', exit_code: 3 });

    const { told, run } = await traced(runId);
    expect(told).toEqual({
      service: 'orchestrator-redis',
      result: 'failure',
      error: 'exit_code',
      steps: ['queue', 'execute'],
    });
    expect(await parentOf(run)).toBe('POST /api/v1/runs/scripts/{id}/run');
    expect(run.name).toBe('RUN By a client');
    expect(attribute(run, 'cicd.worker.id')).toMatch(/^queue/);
  });

  test('have a trace that starts with the run when a client has pushed the job', async () => {
    const id = await product.script('Given by a client', { 'main.py': '' });
    await client.call('LPUSH', jobs, JSON.stringify({ script_id: id }));
    const { run_id: runId } = await popped(client);
    await complete(client, runId);

    const { told, run } = await traced(runId);
    expect(told).toMatchObject({ service: 'orchestrator-redis', result: 'success' });
    expect(run.parentSpanId).toBeUndefined();
  });

  test('share one trace with their retries and chained runs', async () => {
    const id = await product.script('Failing', { 'main.py': '' });
    const retry = { max_attempts: 2, backoff_seconds: 0.1 };
    await product.call('PATCH', `/scripts/${id}`, { retry });
    const chained = await product.script('Chained', { 'main.py': '' });
    const chain = { source_script_id: id, target_script_id: chained, on: 'success' };
    await product.call('POST', '/chains', chain);
    const { run_id: first } = await product.run(id);
    await popped(client);
    await complete(client, first, { status: 'failed', exit_code: 1 });
    const { run_id: second } = await popped(client);
    await complete(client, second);
    const { run_id: third } = await popped(client);
    await complete(client, third);

    const spans = [];
    for (const runId of [first, second, third]) spans.push((await traced(runId)).run);
    const [failed, repeated, last] = spans;
    expect(spans.map(({ name }) => name)).toEqual(['RUN Failing', 'RUN Failing', 'RUN Chained']);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect([repeated?.parentSpanId, last?.parentSpanId]).toEqual([
      failed?.spanId,
      repeated?.spanId,
    ]);
  });

  test('have a trace from the scheduler when they are lost because the lease expires', async () => {
    const id = await product.script('Lost', { 'main.py': '' });
    const { run_id: runId } = await product.run(id);
    await popped(client);
    await client.call('EXPIRE', `runs:${runId}:lease`, '1');

    expect((await traced(runId)).told).toEqual({
      service: 'orchestrator-scheduler',
      result: 'error',
      error: 'runtime_lost',
      steps: ['queue', 'execute'],
    });
  });

  test('have a trace from the scheduler when they expire in the queue', async () => {
    const id = await product.script('Late', { 'main.py': '' });
    await product.call('PATCH', `/scripts/${id}`, { limits: { queue_seconds: 1 } });
    const { run_id: runId } = await product.run(id);

    expect((await traced(runId)).told).toEqual({
      service: 'orchestrator-scheduler',
      result: 'error',
      error: 'expired',
      steps: ['queue'],
    });
  });

  test('have a trace from the backend when they are stopped in the queue', async () => {
    const id = await product.script('Stopped', { 'main.py': '' });
    const { run_id: runId } = await product.run(id);
    await product.call('POST', `/runs/${runId}/stop`);

    expect((await traced(runId)).told).toEqual({
      service: 'orchestrator-backend',
      result: 'cancellation',
      error: 'stopped',
      steps: ['queue'],
    });
  });
});
