/** Returns platform information, health and metrics. */
import { objectKey } from '#domain/ports/object-keys.ts';
import { newestPlace } from '#infra/postgres/event-store/event-chunks.ts';
import { listRuntimes } from '#infra/postgres/queue/runtimes.ts';
import { listCheckpoints } from '#infra/postgres/readers/checkpoints.ts';
import { countQueryGaps } from '#infra/postgres/script-queries/confine-queries.ts';
import { triggerState } from '#projections/trigger-state/queries.ts';
import { alarmsNow } from '#services/shared/alarms.ts';
import { databaseProblem } from '#services/shared/database-health.ts';
import { inTime } from '#services/shared/in-time.ts';
import { version } from '#services/shared/version.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { json, text } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { Health, SystemInfo } from './schema.ts';
import { triggersJson } from './view.ts';

const tag = 'System';
const well = { 200: { description: 'Healthy.', schema: Health } };

const info = operation({
  method: 'get',
  path: '/api/v1/system/info',
  operationId: 'systemInfo',
  summary: 'Read the status of services, projections and alarms',
  tag,
  access: { right: 'system.read' },
  responses: { 200: { description: 'The status of the platform.', schema: SystemInfo } },
  handle: async (_call, services) => {
    const { database, readModels, edition, startedAt, clock, objectsFolder, connections } =
      services;
    const watched = { database, reads: readModels, clock, folder: objectsFolder };
    const [runtimes, projections, position, triggers, alarms, queryGaps] = await Promise.all([
      listRuntimes(database),
      listCheckpoints(database),
      newestPlace(database),
      triggerState(readModels),
      alarmsNow(watched),
      countQueryGaps(database),
    ]);
    const now = clock.now();
    const backend = { name: 'backend', id: 'backend', started_at: startedAt, seen_at: now };
    return json(200, {
      name: 'Script Orchestration Service',
      version,
      edition,
      uptime_seconds: Math.floor((now.getTime() - startedAt.getTime()) / 1000),
      services: [backend, ...runtimes.map(runtimeJson)],
      triggers: triggersJson(triggers),
      event_position: position.globalPosition,
      projections,
      alarms,
      connections: {
        open: connections.open,
        limit: connections.limit,
        limit_per_address: connections.limitPerAddress,
        closed: Object.fromEntries(connections.closed),
      },
      query_gaps: queryGaps,
    });
  },
});

function runtimeJson(runtime: Awaited<ReturnType<typeof listRuntimes>>[number]) {
  const { runtime_id: id, started_at, seen_at, slots, running, layers, python } = runtime;
  return { name: 'runtime', id, started_at, seen_at, slots, running, layers, python };
}

const retryLater = { 'Retry-After': '2' };
const isDown = { description: 'A dependency is unavailable.', schema: Health };

const health = operation({
  method: 'get',
  path: '/health',
  operationId: 'health',
  summary: 'Check whether the backend can serve requests',
  tag,
  access: 'public',
  description:
    'Returns 503 while the database is unreachable. Returns 200 with `degraded` if the object store or ' +
    "the message bus is unavailable, or a clock differs from the database's. While the object store " +
    'is unavailable, only requests for files fail.',
  responses: { ...well, 503: isDown },
  handle: async (_call, services) => {
    const checks = await checksOf(services);
    if (checks.database !== 'ok') return json(503, { status: 'unavailable', checks }, retryLater);
    const isWell = Object.values(checks).every((check) => check === 'ok');
    return json(200, isWell ? { status: 'ok' } : { status: 'degraded', checks });
  },
});

const livez = operation({
  method: 'get',
  path: '/livez',
  operationId: 'live',
  summary: 'Check whether the process is alive, regardless of its dependencies',
  tag,
  access: 'public',
  responses: well,
  handle: () => Promise.resolve(json(200, { status: 'ok' })),
});

const readyz = operation({
  method: 'get',
  path: '/readyz',
  operationId: 'ready',
  summary: 'Check whether all dependencies are available',
  tag,
  access: 'public',
  description:
    'If only the message bus is unavailable, returns 200 with `degraded`, because updates are ' +
    'delayed by up to a second. While the backend is stopping, returns 503 with `backend` as ' +
    '`unavailable`, although requests are still served.',
  responses: { ...well, 503: isDown },
  handle: async (_call, services) => {
    if (services.connections.isClosing) {
      return json(503, { status: 'unavailable', checks: { backend: 'unavailable' } }, retryLater);
    }
    const checks = await checksOf(services);
    const isWell = checks.database === 'ok' && checks.objects === 'ok';
    if (!isWell) return json(503, { status: 'unavailable', checks }, retryLater);
    return json(200, { status: checks.clock ?? checks.bus, checks });
  },
});

const timeoutMs = 2000;

async function checksOf({ database, objects, bus, clockProblem }: Services) {
  const [problem, objectsAnswer] = await Promise.all([
    databaseProblem(database),
    inTime(objects.head(objectKey.system('health')), timeoutMs),
  ]);
  return {
    database: problem === undefined ? 'ok' : 'unavailable',
    objects: objectsAnswer ? 'ok' : 'unavailable',
    bus: bus.problem === undefined ? 'ok' : 'degraded',
    ...(clockProblem?.() !== undefined && { clock: 'degraded' }),
  } as const;
}

const metrics = operation({
  method: 'get',
  path: '/metrics',
  operationId: 'metrics',
  summary: 'Read the metrics in Prometheus format',
  tag,
  access: 'public',
  responses: {
    200: { description: 'The metrics.', schema: Type.String(), mediaType: 'text/plain' },
  },
  handle: async (_call, { metrics: { registry } }) =>
    text(200, registry.contentType, await registry.metrics()),
});

export const systemOperations: readonly Operation[] = [info, health, livez, readyz, metrics];
