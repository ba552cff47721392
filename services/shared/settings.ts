/** Declares the settings of all processes. All other `ORCH_` variables are reported as unknown. */
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
  /** The public URL of the backend. All generated URLs start with it. */
  publicUrl: optional(text('ORCH_PUBLIC_URL', publicAddress)),
  runtimeHealthPort: port('ORCH_RUNTIME_HEALTH_PORT', 9091),
  schedulerHealthPort: port('ORCH_SCHEDULER_HEALTH_PORT', 9092),
  runtimeMetricsPort: port('ORCH_RUNTIME_METRICS_PORT', 9093),
  mcpPort: port('ORCH_MCP_PORT', 8010),
  redisPort: port('ORCH_REDIS_PORT', 6379),
  redisHealthPort: port('ORCH_REDIS_HEALTH_PORT', 9094),
  /** The URLs through which the backend and the MCP server reach each other. By default, both run on this machine. */
  backendUrl: optional(text('ORCH_BACKEND_URL', httpAddress)),
  mcpUrl: optional(text('ORCH_MCP_URL', httpAddress)),
  /** The accepted host names of the MCP server, in addition to this machine's names. */
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
  /** The period in which a body must transfer a minimum number of bytes. */
  bodyTimeoutSeconds: integer('ORCH_BODY_TIMEOUT_SECONDS', { min: 1, max: 3600 }, 30),
  /** The maximum idle time of a connection between two requests. */
  idleTimeoutSeconds: integer('ORCH_IDLE_TIMEOUT_SECONDS', { min: 1, max: 3600 }, 65),
  /** How long the backend keeps idle connections open after a stop request. */
  shutdownDelaySeconds: integer(
    'ORCH_SHUTDOWN_DELAY_SECONDS',
    { min: 0, max: 300 },
    // The minimal edition has no reverse proxy that would need time to detect the stop.
    ({ edition }) => (edition === 'minimal' ? 0 : 5),
  ),

  // Storage
  dataDir: path('ORCH_DATA_DIR', () => resolve('.orchestrator')),
  objectsDir: path('ORCH_OBJECTS_DIR', (others) => join(others.dataDir, 'objects')),
  /** The bucket that replaces the folder. */
  objectsUrl: optional(text('ORCH_OBJECTS_URL', bucketAddress)),
  s3Endpoint: optional(text('ORCH_S3_ENDPOINT', httpAddress)),
  s3Region: text('ORCH_S3_REGION', identifier, 'us-east-1'),
  s3AccessKeyId: optional(text('ORCH_S3_ACCESS_KEY_ID', word)),
  s3SecretAccessKey: optional(secret(text('ORCH_S3_SECRET_ACCESS_KEY', word))),
  s3PathStyle: flag('ORCH_S3_PATH_STYLE', true),
  workDir: path('ORCH_WORK_DIR', (others) => join(others.dataDir, 'runtime')),
  databaseUrl: secret(text('ORCH_DATABASE_URL', databaseAddress)),
  /** The database URL with the schema owner's credentials, for migrations. */
  databaseAdminUrl: secret(text('ORCH_DATABASE_ADMIN_URL', databaseAddress)),

  // Message bus (the database, if no address is set)
  natsUrl: optional(secret(addresses('ORCH_NATS_URL', natsServers))),
  natsCredentials: optional(secret(text('ORCH_NATS_CREDENTIALS', natsCredentials))),
  /** The prefix of all names on the NATS server. */
  natsPrefix: text('ORCH_NATS_PREFIX', subjectPrefix, 'orch'),

  // Secrets
  secretMasterKey: key('SECRET_MASTER_KEY'),
  /** A second key, which is also accepted during a rotation. */
  secretMasterKeyOther: optional(key('SECRET_MASTER_KEY_OTHER')),
  /** The key that signs access tokens. */
  tokenKey: key('ORCH_TOKEN_KEY'),
  /** The key that signs heads of the audit chain: a 32-byte Ed25519 private key. */
  auditKey: key('ORCH_AUDIT_KEY'),
  /** The key that encrypts backups. Without a key, backups are not encrypted. */
  backupKey: optional(key('ORCH_BACKUP_KEY')),
  /** The users who may sign in with a password. Other users must use an identity provider. */
  passwordSignIn: oneOf('ORCH_PASSWORD_SIGN_IN', ['everyone', 'administrators'], 'everyone'),
  /** The roles that need a second factor when they sign in with a password. */
  secondFactorRoles: listOf('ORCH_SECOND_FACTOR_ROLES', roles),
  adminEmail: text('ORCH_ADMIN_EMAIL', emailAddress, 'admin@example.com'),
  /** The password of the first administrator, whose account is created if no user exists. */
  adminPassword: optional(secret(text('ORCH_ADMIN_PASSWORD', password))),
  /** Whether to create example scripts, and a run, for the first administrator. */
  examples: flag('ORCH_EXAMPLES', ({ edition }) => edition === 'minimal'),
  redisPassword: optional(secret(text('ORCH_REDIS_PASSWORD', password))),

  // Permitted targets and trusted peers
  /** Folders that contain secrets for runs, by name. */
  secretFolders: list('ORCH_SECRET_FOLDERS', {
    expected: 'names and folders like mounted=/run/secrets',
    pattern: /^[a-z0-9][a-z0-9_-]{0,39}=\/[^\0]*[^\0/]$/,
  }),
  allowPrivateTargets: list('ORCH_ALLOW_PRIVATE_TARGETS', networks),
  /** Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted. */
  trustedProxies: list('ORCH_TRUSTED_PROXIES', networks),

  /** The repository of newer releases, and the 32-byte Ed25519 public key that verifies its signatures. */
  updateUrl: optional(text('ORCH_UPDATE_URL', repository)),
  updateKey: optional(publicKey('ORCH_UPDATE_KEY')),
  /** A second key, which is also accepted during a rotation. */
  updateKeyOther: optional(publicKey('ORCH_UPDATE_KEY_OTHER')),

  /** The MQTT broker to which scripts publish messages. */
  mqttUrl: optional(secret(text('ORCH_MQTT_URL', brokerAddress))),

  // Runs
  runtimeId: text('ORCH_RUNTIME_ID', identifier, () => hostname().replace(/[^\w.-]/g, '-')),
  runtimeSlots: integer(
    'ORCH_RUNTIME_SLOTS',
    { min: 0, max: 1000 },
    () => availableParallelism() * 2,
  ),
  /** The runtime's labels, such as `gpu`. Scripts can require labels. */
  runtimeLabels: list('ORCH_RUNTIME_LABELS', {
    expected: 'labels separated by commas, like gpu,zone-b',
    pattern: labelPattern,
  }),
  leaseSeconds: integer('ORCH_LEASE_SECONDS', { min: 2, max: 3600 }, 15),
  /**
   * The maximum difference between a process's clock and the database's clock. Above this difference, the process
   * pauses time-dependent work.
   */
  maxClockDifferenceSeconds: integer('ORCH_MAX_CLOCK_DIFFERENCE_SECONDS', { min: 1, max: 3600 }, 5),
  /** How long runs may continue after a stop request to their runtime. */
  drainSeconds: integer('ORCH_DRAIN_SECONDS', { min: 0, max: 86_400 }, 0),
  /** The lease of runs that queue clients claim. Clients can renew the lease. */
  queueLeaseSeconds: integer('ORCH_QUEUE_LEASE_SECONDS', { min: 2, max: 3600 }, 60),
  /** The interpreter for scripts that do not select a Python version. */
  python: optional(path('ORCH_PYTHON')),
  /** Whether to execute runs even if a required sandbox layer is missing. */
  sandboxLenient: flag('ORCH_SANDBOX_LENIENT', false),
  /** The maximum number of warm interpreters for recently used scripts. With 0, each run starts a new interpreter. */
  keepers: integer('ORCH_KEEPERS', { min: 0, max: 100 }, 4),
  residentProcesses: integer('ORCH_RESIDENT_PROCESSES', { min: 0, max: 1000 }, 16),
  logRuns: flag('ORCH_LOG_RUNS', false),

  // Queries that scripts send to the database
  /** The number of connections that all runs of a runtime share. */
  queryConnections: integer('ORCH_QUERY_CONNECTIONS', { min: 1, max: 50 }, 2),
  querySeconds: integer('ORCH_QUERY_SECONDS', { min: 1, max: 300 }, 5),
  queryWaitSeconds: integer('ORCH_QUERY_WAIT_SECONDS', { min: 1, max: 600 }, 30),
  /** Whether to permit queries even if the database does not restrict them. */
  queryLenient: flag('ORCH_QUERY_LENIENT', false),

  ...telemetrySettings,

  // Settings of the process itself
  edition: oneOf('ORCH_EDITION', ['minimal', 'production'], 'production'),
  logLevel: oneOf('ORCH_LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'info'),
  /** Whether to exit when standard input closes, which happens when the supervisor exits. */
  supervised: flag('ORCH_SUPERVISED', false),
  /** Whether the supervisor starts this process only when a client connects. The supervisor listens on the same ports
   *  and passes the connections on. */
  onDemand: flag('ORCH_ON_DEMAND', false),
  /** Whether to exit after loading the program, which caches the compiled code. */
  warmUp: flag('ORCH_WARM_UP', false),
} as const satisfies Record<string, Setting<unknown>>;
