/** The platform about itself: information, health, metrics. */
import type { ObjectStore } from '#domain/ports/objects.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import { listCheckpoints } from '#infra/postgres/checkpoints.ts';
import { countQueryGaps } from '#infra/postgres/confine-queries.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { newestPlace } from '#infra/postgres/event-chunks.ts';
import { listRuntimes } from '#infra/postgres/runtimes.ts';
import { triggerState } from '#projections/trigger-state/queries.ts';
import Type from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { json, text } from '../http/reply.ts';
import { Health, SystemInfo } from '../schemas/system.ts';
import { alarmsNow } from '#services/shared/alarms.ts';
import { version } from '#services/shared/version.ts';
import { triggersJson } from './triggers.ts';

const tag = 'System';
const well = { 200: { description: 'All is well.', schema: Health } };

const info = operation({
  method: 'get',
  path: '/api/v1/system/info',
  operationId: 'systemInfo',
  summary: 'What runs here, and how far it has come',
  tag,
  access: { right: 'system.read' },
  responses: { 200: { description: 'The platform.', schema: SystemInfo } },
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

const health = operation({
  method: 'get',
  path: '/health',
  operationId: 'health',
  summary: 'Whether the backend serves',
  tag,
  access: 'public',
  responses: well,
  handle: () => Promise.resolve(json(200, { status: 'ok' })),
});

const livez = operation({
  method: 'get',
  path: '/livez',
  operationId: 'live',
  summary: 'Whether the process lives, whatever it depends on',
  tag,
  access: 'public',
  responses: well,
  handle: () => Promise.resolve(json(200, { status: 'ok' })),
});

const readyz = operation({
  method: 'get',
  path: '/readyz',
  operationId: 'ready',
  summary: 'Whether everything that it depends on answers',
  tag,
  access: 'public',
  description:
    'Without its bus the platform is slower by up to a second, and nothing else: that is `degraded`, and answers 200.',
  responses: { ...well, 503: { description: 'Something is down.', schema: Health } },
  handle: async (_call, { database, objects, bus }) => {
    const [forDatabase, forObjects] = await Promise.all([
      answers(databaseAnswers(database)),
      answers(objectsAnswer(objects)),
    ]);
    const isWell = forDatabase === 'ok' && forObjects === 'ok';
    const forBus = bus.problem === undefined ? 'ok' : 'degraded';
    return json(isWell ? 200 : 503, {
      status: isWell ? forBus : 'unavailable',
      checks: { database: forDatabase, objects: forObjects, bus: forBus },
    });
  },
});

const patienceMs = 2000;

async function answers(check: Promise<unknown>): Promise<'ok' | 'unavailable'> {
  let timer: NodeJS.Timeout | undefined;
  const impatience = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), patienceMs);
  });
  try {
    await Promise.race([check, impatience]);
    return 'ok';
  } catch {
    return 'unavailable';
  } finally {
    clearTimeout(timer);
  }
}

async function databaseAnswers(database: Queryable): Promise<void> {
  await database.query('SELECT 1', []);
}

async function objectsAnswer(objects: ObjectStore): Promise<void> {
  await objects.head(objectKey.system('health'));
}

const metrics = operation({
  method: 'get',
  path: '/metrics',
  operationId: 'metrics',
  summary: 'Figures for Prometheus',
  tag,
  access: 'public',
  responses: {
    200: { description: 'Figures.', schema: Type.String(), mediaType: 'text/plain' },
  },
  handle: async (_call, { metrics: { registry } }) =>
    text(200, registry.contentType, await registry.metrics()),
});

export const systemOperations: readonly Operation[] = [info, health, livez, readyz, metrics];
