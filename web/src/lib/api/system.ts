import { client, unwrap } from './client.ts';
import type { SystemInfo } from './types.ts';

export function systemInfo(): Promise<SystemInfo> {
  return unwrap(client.GET('/api/v1/system/info', {}));
}
