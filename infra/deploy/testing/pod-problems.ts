/** Finds problems in the pods of a set of manifests. */
import { settings } from '#services/shared/settings.ts';
import { invalid } from '#services/shared/setting.ts';
import type { Container, Manifest, PodSpec } from './chart.ts';

/** Returns the pods in the manifests, by component. */
export function podsOf(manifests: readonly Manifest[]): ReadonlyMap<string, PodSpec> {
  return new Map(
    manifests.flatMap(({ spec }) => {
      const { template } = spec;
      if (template === undefined) return [];
      return [[template.metadata.labels['app.kubernetes.io/component'] ?? '', template.spec]];
    }),
  );
}

/** Permitted capabilities by component. */
const capabilities: Readonly<Record<string, readonly string[]>> = {
  frontend: ['NET_BIND_SERVICE'],
};
/** The requirements of the sandbox on prepared nodes (docs/kubernetes.md). */
const sandboxed = new Set(['runtime']);

/** Returns one line for each rule that a pod violates. */
export function podProblems(manifests: readonly Manifest[]): readonly string[] {
  return [...podsOf(manifests)].flatMap(([name, pod]) =>
    [
      ...podRules(name, pod),
      ...[...pod.containers, ...(pod.initContainers ?? [])].flatMap((container) => [
        ...containerRules(name, container),
        ...(name === 'setup' ? [] : probeRules(name, container)),
        ...settingRules(container, pod),
      ]),
    ].map((problem) => `${name}: ${problem}`),
  );
}

function podRules(name: string, pod: PodSpec): readonly string[] {
  const own = pod.securityContext ?? {};
  const hasNamespaces = pod['hostUsers'] === false;
  return broken({
    'has a token of the API server': pod['automountServiceAccountToken'] === false,
    'gets variables of Services': pod['enableServiceLinks'] === false,
    'runs as root': own['runAsNonRoot'] === true && Number(own['runAsUser']) > 0,
    'has no system call filter': isFilter(own['seccompProfile']),
    'shares a namespace of the host': ['hostNetwork', 'hostPID', 'hostIPC'].every(
      (field) => pod[field] === undefined,
    ),
    'mounts a folder of the host': (pod.volumes ?? []).every(
      ({ hostPath }) => hostPath === undefined,
    ),
    'has a user namespace without need': !hasNamespaces || sandboxed.has(name),
    'is not spread': Array.isArray(pod['topologySpreadConstraints']),
    'is killed without grace':
      name === 'setup' || Number(pod['terminationGracePeriodSeconds']) >= 40,
  });
}

function containerRules(name: string, container: Container): readonly string[] {
  const own = container.securityContext ?? {};
  const { add = [], drop = [] } = (own['capabilities'] ?? {}) as {
    readonly add?: readonly string[];
    readonly drop?: readonly string[];
  };
  const { requests = {}, limits = {} } = container.resources ?? {};
  return broken({
    'may be root': own['runAsNonRoot'] === true,
    'has a writable root file system': own['readOnlyRootFilesystem'] === true,
    'gains privileges': own['allowPrivilegeEscalation'] === false && own['privileged'] !== true,
    'keeps capabilities': drop.includes('ALL'),
    'adds capabilities': add.every((one) => capabilities[name]?.includes(one)),
    'has no system call filter':
      own['seccompProfile'] === undefined || isFilter(own['seccompProfile']),
    'sees the whole of /proc': own['procMount'] === undefined || sandboxed.has(name),
    'requests no resources': 'cpu' in requests && 'memory' in requests,
    'has no memory limit': 'memory' in limits,
  });
}

function probeRules(name: string, container: Container): readonly string[] {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  return broken({
    'lacks a probe': [startupProbe, livenessProbe, readinessProbe].every(Boolean),
    // Liveness probes must not depend on the database, because an outage would restart every pod. The MCP server's
    // /health has no dependencies.
    'is restarted when a dependency fails':
      livenessProbe?.httpGet?.path !== '/health' || name === 'mcp',
  });
}

/** Settings must exist and be valid, and secrets must be files in the pod. */
function settingRules(container: Container, { volumes = [] }: PodSpec): readonly string[] {
  const files = volumes.flatMap(({ secret }) => secret?.items ?? []).map(({ path }) => path);
  const known = Object.values(settings);
  return (container.env ?? []).flatMap(({ name, value = '' }) => {
    if (!/^(ORCH|OTEL|SECRET)_/.test(name) || name === 'ORCH_SITE') return [];
    const setting = known.find(({ variable }) => variable === name.replace(/_FILE$/, ''));
    if (setting === undefined) return [`${name} is not known`];
    if (name.endsWith('_FILE')) {
      const file = /^\/run\/secrets\/(\w+)$/.exec(value)?.[1] ?? value;
      return files.includes(file) ? [] : [`${name}: the file ${file} is missing`];
    }
    if (setting.secret) return [`${name} is open`];
    return setting.parse(value) === invalid ? [`${name}: ${value} is not valid`] : [];
  });
}

function isFilter(profile: unknown): boolean {
  const { type = '' } = (profile ?? {}) as { readonly type?: string };
  return ['RuntimeDefault', 'Localhost'].includes(type);
}

function broken(rules: Readonly<Record<string, boolean | undefined>>): readonly string[] {
  return Object.entries(rules).flatMap(([problem, isKept]) => (isKept === true ? [] : [problem]));
}
