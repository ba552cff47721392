/** Derives a server's limits and deadlines from the settings. */
import type { BlockList } from 'node:net';
import type { Settings, SettingName } from '#services/shared/config.ts';
import type { Logger } from '#services/shared/logger.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { maxConnections } from './descriptors.ts';
import type { HttpServerOptions } from './http-server.ts';
import { isIn } from './peer.ts';
import { plainResponse } from './plain-response.ts';

/** The settings that `httpServerOptions` needs. */
export const httpServerSettings = [
  'maxConnections',
  'maxConnectionsPerAddress',
  'headersTimeoutSeconds',
  'bodyTimeoutSeconds',
  'idleTimeoutSeconds',
] as const satisfies readonly SettingName[];

const warnEveryMs = 60_000;

/** @param trustedProxies addresses of proxies, each of which many users share */
export function httpServerOptions(
  config: Pick<Settings, (typeof httpServerSettings)[number]>,
  trustedProxies: BlockList,
  logger: Pick<Logger, 'warn'>,
): HttpServerOptions {
  const possible = maxConnections();
  const max = Math.min(config.maxConnections, possible);
  if (max < config.maxConnections) {
    logger.warn(
      { configured: config.maxConnections, possible },
      'ORCH_MAX_CONNECTIONS exceeds the available file descriptors; raise the limit of open files',
    );
  }
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  const connections = new ConnectionLimits({
    max,
    maxPerAddress: config.maxConnectionsPerAddress,
    isShared: (address) => address === 'local' || isIn(address, trustedProxies),
    refusal: plainResponse(503),
    onLimit: (reason) => {
      if (performance.now() - warnedAtMs < warnEveryMs) return;
      warnedAtMs = performance.now();
      logger.warn({ reason, limit: max }, 'too many connections; closing idle ones');
    },
  });
  return {
    connections,
    deadlines: {
      headersMs: config.headersTimeoutSeconds * 1000,
      bodyMs: config.bodyTimeoutSeconds * 1000,
      idleMs: config.idleTimeoutSeconds * 1000,
    },
  };
}
