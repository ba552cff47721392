/** The processes of the minimal edition. */
import { fileURLToPath } from 'node:url';
import type { Settings } from '#services/shared/config.ts';
import { localAddress } from '#services/shared/local-address.ts';
import { runtimeCapabilities } from './privileges.ts';

export type PortSetting = {
  [K in keyof Settings]: K extends `${string}Port` ? K : never;
}[keyof Settings];

export interface ServiceDefinition {
  readonly name: string;
  /** The program, an absolute path. */
  readonly entry: string;
  /** Its ports; the first one serves `GET /health`. */
  readonly ports: readonly [PortSetting, ...PortSetting[]];
  /** The secret variables that the process receives; it receives all other variables. */
  readonly secrets: readonly string[];
  /** Capabilities that it keeps as user 0; without this list it keeps all. */
  readonly capabilities?: readonly string[];
  /** Starts at a connection to one of its ports. */
  readonly onDemand?: true;
  /** A port that may be replaced by any free port if it is in use. */
  readonly movable?: PortSetting;
  /** Printed when it is up; a path below its first port's address. */
  readonly page: string;
  /** Printed instead of the address. */
  readonly address?: (config: Settings) => string;
  /** Maximum size of V8's old generation, in MB. */
  readonly maxHeapMb: number;
  /** Young generation of V8's heap, in MB. A small one saves memory in every process, and costs speed only under many
   *  requests. */
  readonly youngHeapMb: number;
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
    entry: entry('backend'),
    ports: ['httpPort'],
    secrets: [
      'ORCH_DATABASE_URL',
      ...telemetrySecrets,
      'ORCH_NATS_URL',
      'ORCH_NATS_CREDENTIALS',
      'ORCH_TOKEN_KEY',
      'ORCH_AUDIT_KEY',
      'SECRET_MASTER_KEY',
      'SECRET_MASTER_KEY_OTHER',
      'ORCH_ADMIN_PASSWORD',
      'ORCH_S3_SECRET_ACCESS_KEY',
    ],
    page: '/',
    maxHeapMb: 512,
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
    name: 'scheduler',
    entry: entry('scheduler'),
    ports: ['schedulerHealthPort'],
    secrets: [
      'ORCH_DATABASE_URL',
      ...telemetrySecrets,
      'ORCH_NATS_URL',
      'ORCH_NATS_CREDENTIALS',
      'ORCH_AUDIT_KEY',
      'ORCH_BACKUP_KEY',
      'SECRET_MASTER_KEY',
      'SECRET_MASTER_KEY_OTHER',
      'ORCH_S3_SECRET_ACCESS_KEY',
    ],
    page: '/health',
    maxHeapMb: 128,
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
