import { client, unwrap } from '#lib/api/client.ts';
import type {
  McpInfo,
  Retention,
  RetentionChanges,
  Runtime,
  Settings,
  SystemInfo,
} from '#lib/api/types.ts';

export function systemInfo(): Promise<SystemInfo> {
  return unwrap(client.GET('/api/v1/system/info', {}));
}

/** Lists the environment variables that configure the service, without secrets. */
export function listSettings(): Promise<Settings> {
  return unwrap(client.GET('/api/v1/system/settings', {}));
}

/** Pauses or resumes all triggers. */
export async function holdTriggers(hold: boolean): Promise<void> {
  await unwrap(
    hold ? client.POST('/api/v1/system/pause', {}) : client.POST('/api/v1/system/resume', {}),
  );
}

export function getRetention(): Promise<Retention> {
  return unwrap(client.GET('/api/v1/system/retention', {}));
}

export function putRetention(body: RetentionChanges): Promise<Retention> {
  return unwrap(client.PUT('/api/v1/system/retention', { body }));
}

/** Returns the URL of the MCP server and whether the server responds. */
export function mcpInfo(): Promise<McpInfo> {
  return unwrap(client.GET('/api/v1/mcp/info', {}));
}

/** Lists the connected runtimes. */
export async function listRuntimes(): Promise<Runtime[]> {
  return (await unwrap(client.GET('/api/v1/runtimes', {}))).items;
}

/** Drains a runtime or ends its drain. */
export async function setRuntimeDrain(runtimeId: string, isDrained: boolean): Promise<void> {
  const path = '/api/v1/runtimes/{runtime_id}/drain';
  const request = { params: { path: { runtime_id: runtimeId } } };
  await unwrap(isDrained ? client.POST(path, request) : client.DELETE(path, request));
}
