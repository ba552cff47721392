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

/** The settings of the environment, without secrets. */
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

/** The URL of the MCP server, and whether it responds. */
export function mcpInfo(): Promise<McpInfo> {
  return unwrap(client.GET('/api/v1/mcp/info', {}));
}

/** The live runtimes. */
export async function listRuntimes(): Promise<Runtime[]> {
  return (await unwrap(client.GET('/api/v1/runtimes', {}))).items;
}

/** Drains or resumes a runtime. */
export async function setRuntimeDrain(runtimeId: string, isDrained: boolean): Promise<void> {
  const path = '/api/v1/runtimes/{runtime_id}/drain';
  const request = { params: { path: { runtime_id: runtimeId } } };
  await unwrap(isDrained ? client.POST(path, request) : client.DELETE(path, request));
}
