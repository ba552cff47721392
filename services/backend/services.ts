/** The dependencies of handlers, created once in `app.ts`. */
import type { Role } from '#domain/kernel/actor.ts';
import type { ScriptId, SessionId } from '#domain/kernel/ids.ts';
import type { Bus } from '#domain/ports/bus.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { GitServer } from '#domain/ports/git.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { RunLogs } from '#domain/ports/run-logs.ts';
import type { RunSamples } from '#domain/ports/run-samples.ts';
import type { UpdateProvider } from '#domain/ports/updates.ts';
import type { HeadSigner } from '#infra/audit/head-signer.ts';
import type { OidcClients } from '#infra/oidc/oidc.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { WaitingFor } from '#infra/postgres/queue/waiting-for.ts';
import type { MasterKeys } from '#infra/secrets/data-keys.ts';
import type { SecretStores } from '#infra/secret-stores/secret-stores.ts';
import type { Vault } from '#infra/secrets/vault.ts';
import type { ReadModels } from '#projections/projection.ts';
import type { RunnableScript } from '#projections/scripts/queries.ts';
import type { OpenSession } from '#projections/sessions/queries.ts';
import type { LiveToken } from '#projections/tokens/queries.ts';
import type { SettingState } from '#services/shared/config.ts';
import type { HttpServerOptions } from '#services/shared/connections/http-server.ts';
import type { Logger } from '#services/shared/logger.ts';
import type { ParameterSchemas } from '#services/shared/parameter-schemas/parameter-schemas.ts';
import type { Passwords } from '#services/shared/passwords.ts';
import type { Releases } from '#services/shared/releases.ts';
import type { RunEnds } from '#services/shared/run-ends.ts';
import type { TokenUses } from '#services/shared/token-uses.ts';
import type { Tracing } from '#services/shared/tracing/tracing.ts';
import type pg from 'pg';
import type { LoginThrottle } from './access/login-throttle.ts';
import type { AccessTokens } from './http/credentials/access-tokens.ts';
import type { Metrics } from './http/metrics.ts';
import type { TrustedProxies } from './http/wire/client.ts';
import type { Wheel } from './static/wheel.ts';
import type { WebhookMisses } from './webhooks/misses.ts';

/** The dependencies of platform updates. */
export interface UpdateDeps {
  /** Undefined if no repository is configured. */
  readonly provider: UpdateProvider | undefined;
  /** The folder of releases. Undefined if releases are container images. */
  readonly releases: Releases | undefined;
  /** Wakes the updater, which then checks for a requested update. */
  readonly wake: () => void;
}

/** The dependencies of the process. */
export interface ProcessDeps extends HttpServerOptions {
  readonly commands: Commands;
  readonly readModels: ReadModels;
  readonly database: Queryable;
  /** For code that needs a dedicated connection. */
  readonly pool: pg.Pool;
  readonly vault: Vault;
  readonly secretStores: SecretStores;
  /** The master keys, the current one first. The current key wraps data keys and seals backups. */
  readonly masterKeys: MasterKeys;
  readonly auditSigner: HeadSigner;
  readonly objects: ObjectStore;
  /** Reads and writes Git repositories. */
  readonly git: GitServer;
  /** Notifies the loop that syncs repositories. */
  readonly wakeRepositories: () => void;
  readonly runLogs: RunLogs;
  readonly runSamples: RunSamples;
  readonly bus: Bus;
  readonly clock: Clock;
  /** Returns the problem with this machine's clock, if any. */
  readonly clockProblem?: () => string | undefined;
  readonly ids: Ids;
  readonly runEnds: RunEnds;
  readonly logger: Logger;
  /** The maximum time that a read waits for the requested position. */
  readonly positionTimeoutMs: number;
  readonly edition: 'minimal' | 'production';
  /** The settings of the process, without secret values. */
  readonly settings: readonly SettingState[];
  /** Signs access tokens. At least 32 bytes. */
  readonly tokenKey: Uint8Array;
  /** The users who may sign in with a password. */
  readonly passwordSignIn: 'everyone' | 'administrators';
  /** Roles whose sign-ins with a password require a second factor. */
  readonly secondFactorRoles: readonly Role[];
  readonly trustedProxies: TrustedProxies;
  /** The public origin, such as `https://host`. If absent, the origin of the request is used. */
  readonly publicUrl?: string | undefined;
  /** Cost of password hashes, as a power of two. */
  readonly passwordCost: number;
  /** The folder of objects and backups. Undefined if they are in a bucket. */
  readonly objectsFolder: string | undefined;
  /** The URL of the MCP server, without a path. */
  readonly mcpUrl: string;
  /** Folder of the dashboard's build. */
  readonly dashboardDir: string;
  readonly updates: UpdateDeps;
  /** Folder that holds the Python package `orchestrator`. */
  readonly sdkDir: string;
  /** Absent if tracing is not configured. */
  readonly tracing?: Tracing | undefined;
}

export interface Services extends ProcessDeps {
  readonly tokens: AccessTokens;
  readonly oidc: OidcClients;
  /** Finds a valid session with its current owner. */
  readonly findSession: (id: SessionId) => Promise<OpenSession | undefined>;
  /** Finds a valid API token with its current owner, by the hash of the token. */
  readonly findToken: (hash: string) => Promise<LiveToken | undefined>;
  readonly tokenUses: TokenUses;
  /** Returns the wheel of `sdkDir`, which is built once. */
  readonly sdkWheel: () => Promise<Wheel>;
  /** Finds the fields of a script that queueing a run requires. */
  readonly findRunnable: (id: ScriptId) => Promise<RunnableScript | undefined>;
  /** Finds the reason why a queued run waits. */
  readonly findWaitingFor: (runId: string) => Promise<WaitingFor | undefined>;
  readonly parameterSchemas: ParameterSchemas;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly metrics: Metrics;
  readonly webhookMisses: WebhookMisses;
  readonly startedAt: Date;
}
