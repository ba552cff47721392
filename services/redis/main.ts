/** Entry point of the Redis-compatible adapter, through which standard Redis clients push, claim and follow runs. */
import { Registry } from 'prom-client';
import { platformSettings, readConfig } from '#services/shared/config.ts';
import { databaseProblem } from '#services/shared/database-health.ts';
import { startHealthServer } from '#services/shared/health-server.ts';
import { addProcessMetrics, addRunEndMetric } from '#services/shared/process-metrics.ts';
import { runProcess } from '#services/shared/lifecycle.ts';
import { openPlatform } from '#services/shared/platform.ts';
import { createAdapter } from './adapter.ts';

const connections = 8;

void runProcess('redis', async (signal, logger) => {
  const config = readConfig([
    ...platformSettings,
    'bind',
    'redisPort',
    'redisHealthPort',
    'redisPassword',
    'queueLeaseSeconds',
  ]);
  const { redisPort, redisPassword: password, queueLeaseSeconds: leaseSeconds } = config;
  const platform = await openPlatform({ ...config, name: 'redis', connections, logger, signal });
  const { database, ...rest } = platform;
  const adapter = createAdapter({ ...rest, pool: database.pool, logger, password, leaseSeconds });
  await adapter.listen(redisPort, config.bind).catch((error: unknown) => {
    throw portError(error, redisPort);
  });
  const metrics = new Registry();
  addProcessMetrics(metrics);
  addRunEndMetric(metrics, platform.runEnds);
  platform.exportMetrics(metrics);
  const health = await startHealthServer({
    host: config.bind,
    port: config.redisHealthPort,
    name: 'redis',
    problem: () => databaseProblem(database.pool),
    degraded: () => platform.bus.problem ?? platform.clock.problem,
    metrics,
  });
  return {
    stop: async () => {
      await health.close();
      await adapter.close();
      await platform.close();
    },
  };
});

function portError(error: unknown, port: number): unknown {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  return isTaken
    ? new Error(
        `port ${port} of the Redis adapter is already in use; set ORCH_REDIS_PORT to another port`,
      )
    : error;
}
