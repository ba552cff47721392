/** The MCP server exposes the platform to language models as tools, with the rights of an API token. */
import { BlockList } from 'node:net';
import { readConfig } from '#services/shared/config.ts';
import {
  httpServerOptions,
  httpServerSettings,
} from '#services/shared/connections/from-settings.ts';
import { createHttpServer } from '#services/shared/connections/http-server.ts';
import { runProcess } from '#services/shared/lifecycle.ts';
import { listen, stopListening } from '#services/shared/listen.ts';
import { localAddress } from '#services/shared/local-address.ts';
import { version } from '#services/shared/version.ts';
import { mcpApp } from './app.ts';

void runProcess('mcp', async (_signal, logger) => {
  const config = readConfig([
    'bind',
    'mcpPort',
    'mcpHosts',
    'backendUrl',
    'httpPort',
    ...httpServerSettings,
  ]);
  const { bind, mcpPort, mcpHosts: hosts } = config;
  const backendUrl = config.backendUrl ?? localAddress(bind, config.httpPort);
  const { app, close } = mcpApp({ backendUrl, hosts, version, logger });
  const server = createHttpServer(app, httpServerOptions(config, new BlockList(), logger));
  await listen(server, mcpPort, bind);
  return {
    stop: async () => {
      const closed = stopListening(server);
      await close();
      server.closeAllConnections();
      await closed;
    },
  };
});
