/** Checks that the size of the backend's metrics does not depend on the requests. */
import { ConnectionLimits } from '#services/shared/connections/connection-limits.ts';
import { RunEnds } from '#services/shared/run-ends.ts';
import { expect, test } from 'vitest';
import { operations } from '../operations.ts';
import { refusalsOf } from './description/openapi.ts';
import { createMetrics } from './metrics.ts';
import { problemKinds } from './problem.ts';

const maxBytes = 768 * 1024;
const connections = new ConnectionLimits({
  max: 1,
  maxPerAddress: 1,
  isShared: () => true,
  refusal: '',
});
const noRunEnds = new RunEnds({ query: () => Promise.reject(new Error('unused')) });

test('metrics of every operation with every possible status fit into 768 KiB', async () => {
  const { registry, observe } = createMetrics(connections, noRunEnds);
  for (const operation of operations) {
    const refused = refusalsOf(operation).map((code) => problemKinds[code].status);
    const statuses = new Set([...Object.keys(operation.responses).map(Number), ...refused, 500]);
    for (const status of statuses) observe(operation, status, 0.01);
  }
  expect(Buffer.byteLength(await registry.metrics())).toBeLessThan(maxBytes);
});

test('each status adds one time series per route, not one per histogram bucket', async () => {
  const { registry, observe } = createMetrics(connections, noRunEnds);
  const route = { method: 'get', path: '/api/v1/scripts' } as const;
  observe(route, 200, 0.01);
  const before = (await registry.metrics()).split('\n').length;
  observe(route, 404, 0.01);
  expect((await registry.metrics()).split('\n').length).toBe(before + 1);
});
