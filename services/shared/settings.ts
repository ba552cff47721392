/** Declares every setting of every process. `ORCH_` variables that are not declared here are unknown. */
import { availableParallelism, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { roles } from '#domain/kernel/actor.ts';
import { labelPattern } from '#domain/script/labels.ts';
import { defaultMaxConnections } from './connections/descriptors.ts';
import {
  addresses,
  flag,
  httpAddress,
  integer,
  key,
  list,
  listOf,
  oneOf,
  optional,
  path,
  port,
  publicKey,
  secret,
  text,
} from './parsers.ts';
import type { Setting } from './setting.ts';
import { telemetrySettings } from './telemetry-settings.ts';

const databaseAddress = {
  expected: 'a URL like postgres://user:password@host:5432/database',
  pattern: /^postgres(ql)?:\/\/\S+$/,
};
const bucketAddress = {
  expected: 'a URL like s3://bucket or s3://bucket/prefix',
  pattern: /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w-][\w.-]{0,99}){0,5}\/?$/,
};
const repository = {
  expected: 'a URL like https://updates.example.com or file:///srv/updates',
  pattern: /^(https?:\/\/[^\s@?#]+|file:\/\/\/[^\s?#]*)$/,
};
const publicAddress = {
  expected: 'a URL like https://orchestrator.example.com',
  pattern: /^https?:\/\/[^\s/@?#]+$/,
};
const brokerAddress = {
  expected: 'a URL like mqtt://user:password@host:1883 or mqtts://host',
  pattern: /^mqtts?:\/\/[^\s/?#]+\/?$/,
};
const natsServers = {
  expected:
    'URLs separated by commas, like nats://user:password@host:4222 or tls://token@host:4222',
  protocols: ['nats:', 'tls:'],
};
const natsCredentials = {
  expected:
    'the content of a credentials file; use ORCH_NATS_CREDENTIALS_FILE to read it from a file',
  pattern: /BEGIN NATS USER JWT.*BEGIN USER NKEY SEED/s,
};
const subjectPrefix = {
  expected: 'up to 32 letters, digits, dashes and underscores',
  pattern: /^[\w-]{1,32}$/,
};
const hostName = {
  expected: 'host names separated by commas, like mcp.example.com',
  pattern: /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i,
};
const word = { expected: 'text without spaces', pattern: /^\S+$/ };
const ipAddress = {
  expected: 'an IP address to listen on, like 127.0.0.1 or 0.0.0.0',
  pattern: /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$/i,
};
const networks = {
  expected: 'networks separated by commas, like 10.0.0.0/8,192.168.1.7/32',
  pattern: /^[0-9a-f:.]+(\/\d{1,3})?$/i,
};
const emailAddress = { expected: 'an email address', pattern: /^[^@\s]+@[^@\s]+$/ };
const password = {
  expected: 'a password of 8 to 72 characters that is not a common password',
  pattern:
    /^(?!(password|passw0rd|change-?me|administrator|orchestrator|secret|12345678)\d{0,4}!?$).{8,72}$/is,
};
const identifier = {
  expected: 'up to 100 letters, digits, dots, dashes and underscores',
  pattern: /^[\w.-]{1,100}$/,
};

export const settings = {
  // Addresses
  bind: text('ORCH_BIND', ipAddress, '127.0.0.1'),
  httpPort: port('ORCH_HTTP_PORT', 8080),
  /** The public URL of the backend, with which generated URLs begin. */
  publicUrl: optional(text('ORCH_PUBLIC_URL', publicAddress)),
  runtimeHealthPort: port('ORCH_RUNTIME_HEALTH_PORT', 9091),
  schedulerHealthPort: port('ORCH_SCHEDULER_HEALTH_PORT', 9092),
  runtimeMetricsPort: port('ORCH_RUNTIME_METRICS_PORT', 9093),
  mcpPort: port('ORCH_MCP_PORT', 8010),
  redisPort: port('ORCH_REDIS_PORT', 6379),
  redisHealthPort: port('ORCH_REDIS_HEALTH_PORT', 9094),
  /** The URLs by which the backend and the MCP server reach each other. Default: on this machine. */
  backendUrl: optional(text('ORCH_BACKEND_URL', httpAddress)),
  mcpUrl: optional(text('ORCH_MCP_URL', httpAddress)),
  /** Host names of the MCP server, in addition to the names of this machine. */
  mcpHosts: list('ORCH_MCP_HOSTS', hostName),

  // Connections of the HTTP servers
  maxConnections: integer('ORCH_MAX_CONNECTIONS', { min: 16, max: 1_000_000 }, () =>
    defaultMaxConnections(),
  ),
  maxConnectionsPerAddress: integer(
    'ORCH_MAX_CONNECTIONS_PER_ADDRESS',
    { min: 1, max: 1_000_000 },
    1000,
  ),
  /** The deadline for the first byte and the headers of a request. */
  headersTimeoutSeconds: integer('ORCH_HEADERS_TIMEOUT_SECONDS', { min: 1, max: 3600 }, 10),
  /** The period in which a body must transfer a minimum of bytes. */
  bodyTimeoutSeconds: integer('ORCH_BODY_TIMEOUT_SECONDS', { min: 1, max: 3600 }, 30),
  /** Maximum idle time between two requests. */
  idleTimeoutSeconds: integer('ORCH_IDLE_TIMEOUT_SECONDS', { min: 1, max: 3600 }, 65),
  /** How long the backend keeps idle connections open after it was asked to stop. */
  shutdownDelaySeconds: integer(
    'ORCH_SHUTDOWN_DELAY_SECONDS',
    { min: 0, max: 300 },
    // The minimal edition has no reverse proxy that must notice the stop.
    ({ edition }) => (edition === 'minimal' ? 0 : 5),
  ),

  // Storage
  dataDir: path('ORCH_DATA_DIR', () => resolve('.orchestrator')),
  objectsDir: path('ORCH_OBJECTS_DIR', (others) => join(others.dataDir, 'objects')),
  /** The bucket that is used instead of the folder. */
  objectsUrl: optional(text('ORCH_OBJECTS_URL', bucketAddress)),
  s3Endpoint: optional(text('ORCH_S3_ENDPOINT', httpAddress)),
  s3Region: text('ORCH_S3_REGION', identifier, 'us-east-1'),
  s3AccessKeyId: optional(text('ORCH_S3_ACCESS_KEY_ID', word)),
  s3SecretAccessKey: optional(secret(text('ORCH_S3_SECRET_ACCESS_KEY', word))),
  s3PathStyle: flag('ORCH_S3_PATH_STYLE', true),
  workDir: path('ORCH_WORK_DIR', (others) => join(others.dataDir, 'runtime')),
  databaseUrl: secret(text('ORCH_DATABASE_URL', databaseAddress)),
  /** The database URL with the schema's owner, for migrations. */
  databaseAdminUrl: secret(text('ORCH_DATABASE_ADMIN_URL', databaseAddress)),

  // Message bus: the database if no address is set
  natsUrl: optional(secret(addresses('ORCH_NATS_URL', natsServers))),
  natsCredentials: optional(secret(text('ORCH_NATS_CREDENTIALS', natsCredentials))),
  /** The prefix of names on the server. */
  natsPrefix: text('ORCH_NATS_PREFIX', subjectPrefix, 'orch'),

  // Secrets
  secretMasterKey: key('SECRET_MASTER_KEY'),
  /** A second key that is accepted during a rotation. */
  secretMasterKeyOther: optional(key('SECRET_MASTER_KEY_OTHER')),
  /** Signs access tokens. */
  tokenKey: key('ORCH_TOKEN_KEY'),
  /** Signs heads of the audit chain: the 32 bytes of an Ed25519 private key. */
  auditKey: key('ORCH_AUDIT_KEY'),
  /** Encrypts backups. If absent, backups are not encrypted. */
  backupKey: optional(key('ORCH_BACKUP_KEY')),
  /** The users who may sign in with a password. Others must use an identity provider. */
  passwordSignIn: oneOf('ORCH_PASSWORD_SIGN_IN', ['everyone', 'administrators'], 'everyone'),
  /** Roles whose sign-ins with a password require a second factor. */
  secondFactorRoles: listOf('ORCH_SECOND_FACTOR_ROLES', roles),
  adminEmail: text('ORCH_ADMIN_EMAIL', emailAddress, 'admin@example.com'),
  /** The account of the first administrator, which is created if no user exists. */
  adminPassword: optional(secret(text('ORCH_ADMIN_PASSWORD', password))),
  /** Creates example scripts and a run for the first administrator. */
  examples: flag('ORCH_EXAMPLES', ({ edition }) => edition === 'minimal'),
  redisPassword: optional(secret(text('ORCH_REDIS_PASSWORD', password))),

  // Permitted targets and trusted peers
  /** Folders with secrets that runs may receive, by name. */
  secretFolders: list('ORCH_SECRET_FOLDERS', {
    expected: 'names and folders like mounted=/run/secrets',
    pattern: /^[a-z0-9][a-z0-9_-]{0,39}=\/[^\0]*[^\0/]$/,
  }),
  allowPrivateTargets: list('ORCH_ALLOW_PRIVATE_TARGETS', networks),
  /** Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted. */
  trustedProxies: list('ORCH_TRUSTED_PROXIES', networks),

  /** The repository of newer releases, and the key of its signatures: the 32 bytes of an Ed25519 public key. */
  updateUrl: optional(text('ORCH_UPDATE_URL', repository)),
  updateKey: optional(publicKey('ORCH_UPDATE_KEY')),
  /** A second key that is accepted during a rotation. */
  updateKeyOther: optional(publicKey('ORCH_UPDATE_KEY_OTHER')),

  /** The broker that scripts publish to. */
  mqttUrl: optional(secret(text('ORCH_MQTT_URL', brokerAddress))),

  // Runs
  runtimeId: text('ORCH_RUNTIME_ID', identifier, () => hostname().replace(/[^\w.-]/g, '-')),
  runtimeSlots: integer(
    'ORCH_RUNTIME_SLOTS',
    { min: 0, max: 1000 },
    () => availableParallelism() * 2,
  ),
  /** Labels that scripts may require of a runtime, such as `gpu`. */
  runtimeLabels: list('ORCH_RUNTIME_LABELS', {
    expected: 'labels separated by commas, like gpu,zone-b',
    pattern: labelPattern,
  }),
  leaseSeconds: integer('ORCH_LEASE_SECONDS', { min: 2, max: 3600 }, 15),
  /** The largest difference between the clocks of a process and the database at which the process still does
   *  time-dependent work. */
  maxClockDifferenceSeconds: integer('ORCH_MAX_CLOCK_DIFFERENCE_SECONDS', { min: 1, max: 3600 }, 5),
  /** How long runs may continue after their runtime is asked to stop. */
  drainSeconds: integer('ORCH_DRAIN_SECONDS', { min: 0, max: 86_400 }, 0),
  /** The lease of runs that queue clients have claimed. Clients can renew it. */
  queueLeaseSeconds: integer('ORCH_QUEUE_LEASE_SECONDS', { min: 2, max: 3600 }, 60),
  /** The interpreter for scripts that name none. */
  python: optional(path('ORCH_PYTHON')),
  /** Executes runs even if a required layer of the sandbox is missing. */
  sandboxLenient: flag('ORCH_SANDBOX_LENIENT', false),
  /** Maximum number of warm interpreters for recently used scripts. With 0, each run starts a new interpreter. */
  keepers: integer('ORCH_KEEPERS', { min: 0, max: 100 }, 4),
  residentProcesses: integer('ORCH_RESIDENT_PROCESSES', { min: 0, max: 1000 }, 16),
  logRuns: flag('ORCH_LOG_RUNS', false),

  // Queries that scripts send to the database
  /** The number of connections for all runs of a runtime together. */
  queryConnections: integer('ORCH_QUERY_CONNECTIONS', { min: 1, max: 50 }, 2),
  querySeconds: integer('ORCH_QUERY_SECONDS', { min: 1, max: 300 }, 5),
  queryWaitSeconds: integer('ORCH_QUERY_WAIT_SECONDS', { min: 1, max: 600 }, 30),
  /** Runs queries even if the database does not restrict them. */
  queryLenient: flag('ORCH_QUERY_LENIENT', false),

  ...telemetrySettings,

  // The process itself
  edition: oneOf('ORCH_EDITION', ['minimal', 'production'], 'production'),
  logLevel: oneOf('ORCH_LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'info'),
  /** Makes the process end when standard input ends, that is, when its supervisor has ended. */
  supervised: flag('ORCH_SUPERVISED', false),
  /** The supervisor starts this process when a client connects. The supervisor listens on the same ports, and passes
   *  on the connections. */
  onDemand: flag('ORCH_ON_DEMAND', false),
  /** Makes the process exit after loading its program, so that the compiled code is cached. */
  warmUp: flag('ORCH_WARM_UP', false),
} as const satisfies Record<string, Setting<unknown>>;
