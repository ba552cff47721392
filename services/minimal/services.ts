/** The processes of the minimal edition. */
import { fileURLToPath } from 'node:url';
import type { Settings } from '#services/shared/config.ts';
import { localAddress } from '#services/shared/local-address.ts';
import { runtimeCapabilities } from './privileges.ts';
import type { Watched } from './releases/observation.ts';

export type PortSetting = {
  [K in keyof Settings]: K extends `${string}Port` ? K : never;
}[keyof Settings];

export interface ServiceDefinition {
  readonly name: string;
  /** The absolute path of the program. */
  readonly entry: string;
  /** The ports of the process. The first port serves `GET /health`. */
  readonly ports: readonly [PortSetting, ...PortSetting[]];
  /** Other services in the same process. Their ports are included in `ports`. */
  readonly alsoRuns?: readonly { readonly name: string; readonly healthPort: PortSetting }[];
  /** The secrets that the process receives, in addition to all variables that are not secret. */
  readonly secrets: readonly string[];
  /** The capabilities that the process keeps if it runs as root. If omitted, the process keeps all capabilities. */
  readonly capabilities?: readonly string[];
  /** Whether the service starts only when a client connects to one of its ports. */
  readonly onDemand?: true;
  /** A port to replace with a free port if it is in use. */
  readonly movable?: PortSetting;
  /** A path that is appended to the address of the first port. The resulting URL is printed when the service is up. */
  readonly page: string;
  /** A different address to print. */
  readonly address?: (config: Settings) => string;
  /** The maximum size of V8's old generation, in MB. */
  readonly maxHeapMb: number;
  /** The size of V8's young generation, in MB. A small size saves memory in every process, and reduces speed only
   *  under high load. */
  readonly youngHeapMb: number;
}

/** Returns the health endpoints of all services in a process. */
export function healthEndpoints(
  { name, ports: [port], alsoRuns = [] }: Pick<ServiceDefinition, 'name' | 'ports' | 'alsoRuns'>,
  config: Settings,
): readonly Watched[] {
  return [{ name, healthPort: port }, ...alsoRuns].map((service) => ({
    name: service.name,
    url: `${localAddress(config.bind, config[service.healthPort])}/health`,
  }));
}

const entry = (name: string): string =>
  fileURLToPath(new URL(`../${name}/main.ts`, import.meta.url));

const telemetrySecrets = [
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
];

export const services: readonly ServiceDefinition[] = [
  {
    name: 'backend',
    entry: fileURLToPath(new URL('backend/main.ts', import.meta.url)),
    ports: ['httpPort', 'schedulerHealthPort'],
    alsoRuns: [{ name: 'scheduler', healthPort: 'schedulerHealthPort' }],
    secrets: [
      'ORCH_DATABASE_URL',
      ...telemetrySecrets,
      'ORCH_NATS_URL',
      'ORCH_NATS_CREDENTIALS',
      'ORCH_TOKEN_KEY',
      'ORCH_AUDIT_KEY',
      'ORCH_BACKUP_KEY',
      'SECRET_MASTER_KEY',
      'SECRET_MASTER_KEY_OTHER',
      'ORCH_ADMIN_PASSWORD',
      'ORCH_S3_SECRET_ACCESS_KEY',
    ],
    page: '/',
    maxHeapMb: 640,
    youngHeapMb: 16,
  },
  {
    name: 'runtime',
    entry: entry('runtime'),
    ports: ['runtimeHealthPort', 'runtimeMetricsPort'],
    capabilities: runtimeCapabilities,
    secrets: [
      'ORCH_DATABASE_URL',
      ...telemetrySecrets,
      'ORCH_NATS_URL',
      'ORCH_NATS_CREDENTIALS',
      'SECRET_MASTER_KEY',
      'SECRET_MASTER_KEY_OTHER',
      'ORCH_S3_SECRET_ACCESS_KEY',
      'ORCH_MQTT_URL',
    ],
    page: '/health',
    maxHeapMb: 256,
    youngHeapMb: 4,
  },
  {
    name: 'redis',
    entry: entry('redis'),
    ports: ['redisHealthPort', 'redisPort'],
    secrets: [
      'ORCH_DATABASE_URL',
      ...telemetrySecrets,
      'ORCH_NATS_URL',
      'ORCH_NATS_CREDENTIALS',
      'ORCH_REDIS_PASSWORD',
    ],
    onDemand: true,
    movable: 'redisPort',
    page: '/health',
    address: ({ bind, redisPort }) => localAddress(bind, redisPort, 'redis'),
    maxHeapMb: 256,
    youngHeapMb: 4,
  },
  {
    name: 'mcp',
    entry: entry('mcp'),
    ports: ['mcpPort'],
    secrets: [],
    onDemand: true,
    page: '/mcp',
    maxHeapMb: 128,
    youngHeapMb: 4,
  },
];
