/** Measures the cost of HTTP alone with two endpoints. `/bare` uses only the server library to parse and return JSON.
 *  `/api/v1/echo` is a complete backend operation, except that it does not use the database. */
import { BlockList, type AddressInfo } from 'node:net';
import { systemClock } from '#infra/system/clock.ts';
import { systemIds } from '#infra/system/ids.ts';
import { trustedProxies } from '#services/backend/http/wire/client.ts';
import { operation } from '#services/backend/http/operation.ts';
import { json } from '#services/backend/http/reply.ts';
import { addRoutes, type RouterDeps } from '#services/backend/http/router.ts';
import { setSecurityHeaders } from '#services/backend/http/wire/security-headers.ts';
import { createMetrics } from '#services/backend/http/metrics.ts';
import { RunRequest } from '#services/backend/runs/schema.ts';
import { readConfig } from '#services/shared/config.ts';
import {
  httpServerOptions,
  httpServerSettings,
} from '#services/shared/connections/from-settings.ts';
import { RunEnds } from '#services/shared/run-ends.ts';
import { createLogger } from '#services/shared/logger.ts';
import express from 'express';
import Type from 'typebox';

const echo = operation({
  method: 'post',
  path: '/api/v1/echo',
  operationId: 'echo',
  summary: 'Answer what was sent',
  tag: 'System',
  access: 'public',
  body: { schema: RunRequest, example: {} },
  responses: { 202: { description: 'What was sent.', schema: Type.Unknown() } },
  handle: ({ body }) => Promise.resolve(json(202, body)),
});

const app = express();
app.disable('x-powered-by').disable('etag');
app.post('/bare', express.json(), (request, response) => {
  response.status(202).json(request.body);
});
app.use((_request, response, next) => {
  setSecurityHeaders(response, false);
  next();
});
// The dependencies of an operation without a database. Using any other dependency fails.
const logger = createLogger('echo', 'error');
const { connections } = httpServerOptions(readConfig(httpServerSettings), new BlockList(), logger);
const noDatabase = new Error('there is no database');
const services = {
  clock: systemClock,
  ids: systemIds,
  logger,
  metrics: createMetrics(connections, new RunEnds({ query: () => Promise.reject(noDatabase) })),
  trustedProxies: trustedProxies([]),
};
addRoutes(app, [echo], { services } as unknown as RouterDeps);
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
