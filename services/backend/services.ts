/** What handlers work with; made once, in `app.ts`. */
import type { ScriptId, SessionId } from '#domain/kernel/ids.ts';
import type { Bus } from '#domain/ports/bus.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import type { RunLogs } from '#domain/ports/run-logs.ts';
import type { RunSamples } from '#domain/ports/run-samples.ts';
import type { UpdateProvider } from '#domain/ports/updates.ts';
import type { HeadSigner } from '#infra/audit/head-signer.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import type { MasterKeys } from '#infra/secrets/data-keys.ts';
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

/** What updates of the platform need. */
export interface UpdateParts {
  /** Undefined: no repository is set. */
  readonly provider: UpdateProvider | undefined;
  /** Undefined where releases are images. */
  readonly releases: Releases | undefined;
  /** Says that an update was started. */
  readonly wake: () => void;
}

/** What the process is given from outside. */
export interface Parts extends HttpServerOptions {
  readonly commands: Commands;
  readonly readModels: ReadModels;
  readonly database: Queryable;
  /** For what keeps a connection while it works. */
  readonly pool: pg.Pool;
  readonly vault: Vault;
  /** The present one first: backups are sealed with it. */
  readonly masterKeys: MasterKeys;
  readonly auditSigner: HeadSigner;
  readonly objects: ObjectStore;
  readonly runLogs: RunLogs;
  readonly runSamples: RunSamples;
  readonly bus: Bus;
  readonly clock: Clock;
  /** What is wrong with the clock of this machine. */
  readonly clockProblem?: () => string | undefined;
  readonly ids: Ids;
  readonly runEnds: RunEnds;
  readonly logger: Logger;
  /** Longest wait of a read for the position that it names. */
  readonly positionPatienceMs: number;
  readonly edition: 'minimal' | 'production';
  /** Those of the environment, without secrets. */
  readonly settings: readonly SettingState[];
  /** At least 32 bytes; signs access tokens. */
  readonly tokenKey: Uint8Array;
  readonly trustedProxies: TrustedProxies;
  /** What addresses that are handed out begin with, such as `https://host`. Absent: as they were asked for. */
  readonly publicUrl?: string | undefined;
  /** Cost of password hashes, as a power of two. */
  readonly passwordCost: number;
  /** Where objects and backups are kept. Undefined: in a bucket. */
  readonly objectsFolder: string | undefined;
  /** Where the MCP server is, without a path. */
  readonly mcpUrl: string;
  /** Folder of the dashboard's build. */
  readonly dashboardDir: string;
  readonly updates: UpdateParts;
  /** Folder that holds the Python package `orchestrator`. */
  readonly sdkDir: string;
  /** Absent where nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

export interface Services extends Parts {
  readonly tokens: AccessTokens;
  /** A session that still counts, with its owner as of now. */
  readonly findSession: (id: SessionId) => Promise<OpenSession | undefined>;
  /** An API token that counts, by its hash, with its owner as of now. */
  readonly findToken: (hash: string) => Promise<LiveToken | undefined>;
  readonly tokenUses: TokenUses;
  /** The package of `sdkDir`, packed once. */
  readonly sdkWheel: () => Promise<Wheel>;
  /** What a request for a run asks of a script that is there. */
  readonly findRunnable: (id: ScriptId) => Promise<RunnableScript | undefined>;
  readonly parameterSchemas: ParameterSchemas;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly metrics: Metrics;
  readonly webhookMisses: WebhookMisses;
  readonly startedAt: Date;
}
