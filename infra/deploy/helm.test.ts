/** Checks the Helm chart without a cluster. Renders the chart with three sets of values, and checks the result against
 *  the Kubernetes schemas and the program's settings. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { caddyService } from '#infra/testing/front.ts';
import { version } from '#services/shared/version.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import {
  chart,
  conform,
  helm,
  kubeconform,
  manifestsIn,
  renderText,
  root,
  run,
  runHelm,
  schemas,
  valueSets,
  versions,
  type Container,
  type Manifest,
} from './testing/chart.ts';
import { flowsOf, outsideFlowsOf } from './testing/flows.ts';
import { podProblems, podsOf } from './testing/pod-problems.ts';
import { jsonSchemaOf } from './testing/custom-resources.ts';

const timeoutMs = 120_000;
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const set = (name: string) => `${name}-values.yaml`;

const texts = new Map<string, string>();
const manifests = new Map<string, readonly Manifest[]>();
const of = (name: string) => manifests.get(set(name)) ?? [];
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-chart-'));
  if (helm.found === undefined) return;
  for (const valueSet of valueSets) {
    const text = renderText(valueSet);
    texts.set(valueSet, text);
    manifests.set(valueSet, manifestsIn(text));
    writeFileSync(join(folder, valueSet), text);
  }
}, timeoutMs);
afterAll(() => rmSync(folder, { recursive: true }));

test('the Helm chart has the same version as the product', () => {
  const { version: own, appVersion } = parse(read('infra/deploy/helm/Chart.yaml')) as {
    readonly version: string;
    readonly appVersion: string;
  };
  expect([own, appVersion]).toEqual([version, version]);
});

describeWith(helm, 'the Helm chart', () => {
  test.each(valueSets)('passes helm lint with %s', (valueSet) => {
    const said = runHelm(['lint', '--strict', chart, '--values', join(chart, 'ci', valueSet)]);
    expect(said).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test.each(valueSets)('gives no pod more privileges than it needs, with %s', (valueSet) => {
    const all = manifests.get(valueSet) ?? [];
    expect(podProblems(all)).toEqual([]);
    expect([...podsOf(all).keys()]).toEqual(
      expect.arrayContaining([
        'backend',
        'scheduler',
        'runtime',
        'mcp',
        'redis',
        'frontend',
        'setup',
      ]),
    );
  });

  test('refers to its own images by version or digest, and to other images by digest', () => {
    const images = [...podsOf([...of('evaluation'), ...of('locked-down')]).values()].flatMap(
      ({ containers }) => containers.map(({ image }) => image),
    );
    const production = [...podsOf(of('production')).values()].map(
      ({ containers }) => containers[0]?.image,
    );
    for (const image of images) expect(image).toMatch(/@sha256:[0-9a-f]{64}$|-\w+:\d+\.\d+\.\d+$/);
    expect(new Set(production)).toEqual(
      new Set(
        ['service', 'runtime', 'frontend'].map(
          (name) => `registry.example.com/orchestrator/script-orchestration-${name}:${version}`,
        ),
      ),
    );
  });

  test('gives each process the same secrets as compose.yaml, and creates no Secret objects', () => {
    const { services } = parse(read('compose.yaml'), { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly environment?: object }>>;
    };
    const filesOf = (names: readonly string[]) =>
      names.filter((name) => name.endsWith('_FILE')).toSorted();
    const pods = podsOf(of('evaluation'));
    for (const component of ['backend', 'scheduler', 'runtime', 'mcp', 'redis']) {
      const own = pods.get(component)?.containers[0]?.env?.map(({ name }) => name) ?? [];
      const composed = Object.keys(services[component]?.environment ?? {});
      expect([component, filesOf(own)]).toEqual([component, filesOf(composed)]);
    }
    const kinds = [...manifests.values()].flat().map(({ kind }) => kind);
    expect(kinds).not.toContain('Secret');
  });

  test('mounts secret folders only in processes that read secret stores', () => {
    const folders = 'team-a=/run/secret-folders/team-a';
    const readers = [...podsOf(of('production'))].flatMap(([component, { containers }]) =>
      containers.some(({ env }) => env?.some(({ value }) => value?.includes(folders)))
        ? [component]
        : [],
    );
    expect(readers.toSorted()).toEqual(['backend', 'runtime']);
    const text = texts.get(set('production')) ?? '';
    expect(text.match(/secretName: secrets-of-team-a/g)).toHaveLength(2);
    expect(text.match(/mountPath: \/run\/secret-folders\/team-a, readOnly: true/g)).toHaveLength(2);
  });

  test('renders network policies that allow only the connections that components need', () => {
    const { allowed, halfOpen } = flowsOf(of('evaluation'));
    expect(halfOpen).toEqual([]);
    const stores = (component: string) => [
      `${component} → nats:4222`,
      `${component} → objects:7070`,
      `${component} → postgres:5432`,
    ];
    expect(allowed).toEqual(
      [
        ...['backend', 'scheduler', 'runtime'].flatMap(stores),
        'runtime → nats:1883',
        'redis → nats:4222',
        'redis → postgres:5432',
        'setup → objects:7070',
        'setup → postgres:5432',
        'frontend → backend:8080',
        'frontend → mcp:8010',
        'backend → mcp:8010',
        'mcp → backend:8080',
      ].toSorted(),
    );
    const denied = of('evaluation').find(({ metadata }) => metadata.name.endsWith('deny-all'));
    expect(denied?.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
    expect(denied?.spec.egress ?? denied?.spec.ingress).toBeUndefined();
  });

  test('allows egress only to listed addresses when egress is restricted', () => {
    const outside = outsideFlowsOf(of('locked-down')).filter((flow) => !flow.includes(':53'));
    expect(outside).toEqual(
      [
        ...['backend', 'scheduler', 'runtime', 'redis', 'setup'].map(
          (component) => `${component} → 10.1.0.10/32:5432`,
        ),
        ...['backend', 'scheduler', 'runtime', 'setup'].map(
          (component) => `${component} → 10.1.0.30/32:443`,
        ),
        'runtime → 10.9.0.5/32:443',
        'pods:8080 → backend',
        'pods:8080 → frontend',
        'pods:9092 → scheduler',
        'pods:9093 → runtime',
        'pods:6379 → redis',
      ].toSorted(),
    );
  });

  test.each(valueSets)('refers only to existing pods and ports, with %s', (valueSet) => {
    const all = manifests.get(valueSet) ?? [];
    const pods = podsOf(all);
    const budgets = all.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual(Array(6).fill(1));
    for (const { kind, metadata, spec } of all) {
      if (!['Service', 'PodDisruptionBudget'].includes(kind)) continue;
      const labels = spec.selector?.matchLabels ?? spec.selector ?? {};
      const pod = pods.get(String(labels['app.kubernetes.io/component']));
      const ports = pod?.containers.flatMap(({ ports: own = [] }) => own.map(({ name }) => name));
      expect(pod, metadata.name).toBeDefined();
      for (const { targetPort } of spec.ports ?? []) {
        if (typeof targetPort === 'string') expect(ports, metadata.name).toContain(targetPort);
      }
    }
  });

  test('scales runtimes based on a metric that the scheduler reports', () => {
    const [query = ''] = of('production').flatMap(
      ({ spec }) => spec.triggers?.map(({ metadata }) => metadata['query'] ?? '') ?? [],
    );
    const source = read('services/scheduler/metrics.ts');
    for (const name of query.match(/orchestrator_\w+/g) ?? ['-'])
      expect(source).toContain(`'${name}'`);
    for (const state of ['due', 'running']) expect(source).toContain(`state: '${state}'`);
    expect(query).toContain('state=~"due|running"');
  });

  test('configures the frontend with the service names of the release', () => {
    const caddyfile = caddyfileOf(of('production'));
    expect(caddyfile).toContain('name orchestrator-backend-pods\n');
    expect(caddyfile).toContain('reverse_proxy orchestrator-mcp:8010');
    expect(caddyfile.match(/trusted_proxies 10\.244\.0\.0\/16\n/g)).toHaveLength(2);
    expect(caddyfile).not.toMatch(/grafana|name backend\n| mcp:/);
  });

  test.each([
    ['a host', 'host=', 'host'],
    ['a pod network', 'podNetworks=null', 'podNetworks'],
    ['a registry', 'image.registry=', 'registry'],
    ['a Secret', 'secrets.existingSecret=', 'secrets.existingSecret is missing'],
    ['a secret in settings', 'settings.ORCH_REDIS_PASSWORD=x', 'ORCH_REDIS_PASSWORD'],
    ['a value that does not exist', 'backend.replica=3', 'replica'],
    ['a database address', 'postgres.egress=null', 'postgres.egress is missing'],
  ])('refuses values with a missing or invalid setting: %s', (_what, value, message) => {
    expect(() => renderText(set('locked-down'), ['--set', value])).toThrow(message);
  });

  test.each<[string, string, Partial<Container>]>([
    ['backend', 'may be root', { securityContext: { runAsNonRoot: false } }],
    ['mcp', 'keeps capabilities', { securityContext: { runAsNonRoot: true } }],
    ['redis', 'has a writable root file system', { securityContext: {} }],
    ['runtime', 'has no system call filter', { securityContext: { seccompProfile: {} } }],
    ['scheduler', 'has no memory limit', { resources: {} }],
    ['backend', 'lacks a probe', { readinessProbe: undefined }],
    [
      'backend',
      'is restarted when a dependency fails',
      { livenessProbe: { httpGet: { path: '/health' } } },
    ],
    ['mcp', 'ORCH_TYPO is not known', { env: [{ name: 'ORCH_TYPO', value: '1' }] }],
    ['mcp', 'ORCH_MCP_PORT: x is not valid', { env: [{ name: 'ORCH_MCP_PORT', value: 'x' }] }],
    ['redis', 'ORCH_NATS_URL is open', { env: [{ name: 'ORCH_NATS_URL', value: 'nats://a' }] }],
  ])('fails these checks when %s %s', (component, problem, change) => {
    const changed = of('production').map((manifest) =>
      changeContainer(manifest, component, change),
    );
    expect(podProblems(changed).join('\n')).toContain(`${component}: ${problem}`);
  });
});

function caddyfileOf(all: readonly Manifest[]): string {
  return all.flatMap(({ data }) => data?.['Caddyfile'] ?? [])[0] ?? '';
}

function changeContainer(
  manifest: Manifest,
  component: string,
  change: Partial<Container>,
): Manifest {
  const { template } = manifest.spec;
  const [container, ...rest] = template?.spec.containers ?? [];
  if (template === undefined || container?.name !== component) return manifest;
  const containers = [{ ...container, ...change }, ...rest];
  const spec = { ...template.spec, containers };
  return { ...manifest, spec: { ...manifest.spec, template: { ...template, spec } } };
}

describe.skipIf(helm.found === undefined)('the frontend of the chart', () => {
  describeWith(caddyService, 'Caddy', () => {
    test('has a valid Caddy configuration', () => {
      const path = join(folder, 'Caddyfile');
      writeFileSync(path, caddyfileOf(of('production')).replace('{$ORCH_SITE}', ':8080'));
      const args = ['validate', '--adapter', 'caddyfile', '--config', path];
      expect(() => run(caddyService.found ?? '', args, folder)).not.toThrow();
    });
  });
});

describeWith(kubeconform, 'kubeconform', () => {
  test.each(versions)(
    'accepts every manifest for Kubernetes %s',
    (kubernetes) => {
      const custom = join(folder, 'custom');
      mkdirSync(custom, { recursive: true });
      for (const file of ['keda.sh_scaledobjects', 'monitoring.coreos.com_podmonitors']) {
        const { name, schema } = jsonSchemaOf(readFileSync(join(schemas, `${file}.yaml`), 'utf8'));
        writeFileSync(join(custom, `${name}.json`), JSON.stringify(schema));
      }
      const files = valueSets.map((valueSet) => join(folder, valueSet));
      expect(conform(kubernetes, files, custom)).toMatch(
        /^Summary: (\d+) resources found in 3 files - Valid: \1, Invalid: 0, Errors: 0, Skipped: 0\n$/,
      );
      const text = texts.get(set('production')) ?? '';
      const mistake = join(folder, 'mistake.yaml');
      writeFileSync(
        mistake,
        text
          .replaceAll('readOnlyRootFilesystem', 'readOnlyFilesystem')
          .replace('pollingInterval', 'polling'),
      );
      expect(conform(kubernetes, [mistake], custom)).toContain('Invalid: 8, Errors: 0');
    },
    timeoutMs,
  );
});
