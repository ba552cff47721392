/** The backend process: REST, WebSockets, documentation and the dashboard. */
import { fileURLToPath } from 'node:url';
import { openFolderStore } from '#infra/objects/folder.ts';
import { PostgresRunLogs } from '#infra/postgres/run-logs.ts';
import { readConfig } from '#services/shared/config.ts';
import { runProcess } from '#services/shared/lifecycle.ts';
import { openPlatform } from '#services/shared/platform.ts';
import { createBackend } from './app.ts';
import { trustedProxies } from './http/client.ts';
import { seed } from './seed.ts';

const connections = 16;
const passwordCost = 12;
const dashboardDir = fileURLToPath(new URL('../../web/build', import.meta.url));

await runProcess('backend', async (_signal, logger) => {
  const config = readConfig([
    'bind',
    'httpPort',
    'databaseUrl',
    'objectsDir',
    'tokenKey',
    'adminEmail',
    'adminPassword',
    'edition',
  ]);
  const { databaseUrl, edition, tokenKey } = config;
  const platform = await openPlatform({ databaseUrl, name: 'backend', connections, logger });
  const { database, reads, ...rest } = platform;
  const backend = createBackend({
    ...rest,
    readModels: reads,
    database: database.pool,
    objects: await openFolderStore({ folder: config.objectsDir }),
    runLogs: new PostgresRunLogs(database.pool),
    logger,
    edition,
    tokenKey,
    trustedProxies: trustedProxies([]),
    passwordCost,
    dashboardDir,
  });
  const { adminEmail: email, adminPassword: password } = config;
  await seed(backend.services, password === undefined ? undefined : { email, password });
  await backend.listen(config.httpPort, config.bind);
  return {
    stop: async () => {
      await backend.close();
      await platform.close();
    },
  };
});
