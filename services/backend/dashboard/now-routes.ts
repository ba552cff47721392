/** The current state and the due times of the next day, for the dashboard. */
import Type from 'typebox';
import { visibleGroups } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { json } from '../http/reply.ts';
import { countFires, readNow, shown } from './present.ts';
import { DashboardFires, DashboardNow } from './schema.ts';
import { Exact } from '../http/schema.ts';

const tag = 'System';

const now = operation({
  method: 'get',
  path: '/api/v1/dashboard/now',
  operationId: 'dashboardNow',
  summary: 'List failing scripts, running runs and upcoming due times',
  description: "Covers the scripts of the caller's groups. Each list has at most `limit` items.",
  tag,
  access: { right: 'runs.read' },
  query: Exact({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: shown })) }),
  responses: { 200: { description: 'The current state.', schema: DashboardNow } },
  handle: async ({ principal, query: { limit = shown } }, { readModels }) =>
    json(200, await readNow(readModels, visibleGroups(principal), limit)),
});

const fires = operation({
  method: 'get',
  path: '/api/v1/dashboard/fires',
  operationId: 'dashboardFires',
  summary: 'Count the due times in the next 24 hours',
  description:
    "Hourly counts for the schedules of the caller's groups. If there are very many due times, counting " +
    'stops at `counted_until`.',
  tag,
  access: { right: 'schedules.read' },
  responses: { 200: { description: 'Counts for the next 24 hours.', schema: DashboardFires } },
  handle: async ({ principal }, { readModels, clock }) =>
    json(200, await countFires(readModels, visibleGroups(principal), clock.now())),
});

export const dashboardNowOperations: readonly Operation[] = [now, fires];
