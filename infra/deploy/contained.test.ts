/** Checks the isolation of the production edition's containers in compose.yaml. Scripts run in the runtime's container,
 *  so they can reach every service on that container's networks. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

type Networks = readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
interface Service {
  readonly command?: readonly string[];
  readonly networks?: Networks;
  readonly volumes?: readonly string[];
  readonly user?: string;
  readonly read_only?: boolean;
  readonly privileged?: boolean;
  readonly network_mode?: string;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly pids_limit?: number;
  readonly logging?: {
    readonly driver?: string;
    readonly options?: Readonly<Record<string, string>>;
  };
}
type Services = Readonly<Record<string, Service>>;

const file = readFileSync(new URL('../../compose.yaml', import.meta.url), 'utf8');
const compose = parse(file, { merge: true }) as {
  readonly services: Services;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};

/** Services that scripts may reach. Each of them requires a password that scripts do not have. */
const signIn = new Set(['postgres', 'nats', 'objects']);
/** The capabilities that each service needs, with the reasons. */
const capabilities: Readonly<Record<string, readonly string[]>> = {
  postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
  frontend: ['NET_BIND_SERVICE'],
};

function networksOf({ networks = ['default'] }: Service): ReadonlyMap<string, string | undefined> {
  return Array.isArray(networks)
    ? new Map((networks as readonly string[]).map((name) => [name, undefined]))
    : new Map(Object.entries(networks).map(([name, { ipv4_address: address }]) => [name, address]));
}

/** Returns services that scripts can reach without a password. */
function reachable(services: Services): readonly string[] {
  const ofRuntime = networksOf(services['runtime'] ?? {});
  return Object.entries(services).flatMap(([name, service]) => {
    if (name === 'runtime' || signIn.has(name)) return [];
    const networks = networksOf(service);
    const shared = [...networks.keys()].filter((network) => ofRuntime.has(network));
    if (shared.length === 0 && service.network_mode === undefined) return [];
    const listens = service.command?.flatMap(
      (word) => /^--web\.listen-address=(.+):\d+$/.exec(word)?.[1] ?? [],
    );
    const elsewhere = [...networks].flatMap(([network, address]) =>
      ofRuntime.has(network) ? [] : [address],
    );
    return listens?.length === 1 && elsewhere.includes(listens[0])
      ? []
      : [`${name}: ${shared.join(', ')}`];
  });
}

/** Returns the privileges that services have but do not need. */
function excess(services: Services): readonly string[] {
  return Object.entries(services).flatMap(([name, service]) => [
    ...(service.cap_drop?.includes('ALL') === true
      ? []
      : [`${name}: capabilities are not dropped`]),
    ...(service.cap_add ?? [])
      .filter((one) => capabilities[name]?.includes(one) !== true)
      .map((one) => `${name}: ${one}`),
    ...(service.security_opt?.includes('no-new-privileges:true') === true
      ? []
      : [`${name}: new privileges`]),
    ...(service.read_only === true ? [] : [`${name}: a writable root file system`]),
    ...(service.privileged === true ? [`${name}: privileged`] : []),
    ...(service.user !== undefined && name !== 'alloy' ? [`${name}: user ${service.user}`] : []),
    ...(service.volumes ?? [])
      .filter((volume) => /\.sock\b|containerd|^\/(run|var\/run|dev|proc|sys)\b|^\/:/.test(volume))
      .map((volume) => `${name}: ${volume}`),
    ...(service.logging?.options?.['max-size'] === undefined
      ? [`${name}: a log without a bound`]
      : []),
  ]);
}

function changed(name: string, change: Partial<Service>): Services {
  return { ...compose.services, [name]: { ...compose.services[name], ...change } };
}

describe('compose.yaml', () => {
  test('does not expose unauthenticated services to scripts', () => {
    expect(reachable(compose.services)).toEqual([]);
  });

  test('lets scripts reach only the runtime’s network', () => {
    const ofRuntime = [...networksOf(compose.services['runtime'] ?? {}).keys()];
    expect(ofRuntime.filter((name) => compose.networks[name]?.internal !== true)).toEqual([
      'scripts',
    ]);
    const others = Object.entries(compose.services).filter(([, service]) =>
      networksOf(service).has('scripts'),
    );
    expect(others.map(([name]) => name)).toEqual(['runtime']);
    const named = Object.values(compose.services).flatMap((service) => [
      ...networksOf(service).keys(),
    ]);
    expect(named.filter((name) => !Object.hasOwn(compose.networks, name))).toEqual([]);
  });

  test('gives no service unneeded privileges or the container engine’s socket', () => {
    expect(excess(compose.services)).toEqual([]);
  });

  test.each<[string, string, Partial<Service>]>([
    ['Loki on the network of the runtime', 'loki', { networks: ['observability', 'runtimes'] }],
    ['a backend on the network of the runtime', 'backend', { networks: ['stores', 'runtimes'] }],
    ['a store on the network that all services share', 'scheduler', { networks: ['scripts'] }],
    ['Prometheus published on every address', 'prometheus', { command: ['--config.file=/x'] }],
    [
      'Prometheus published on an address of the runtime',
      'prometheus',
      { command: ['--web.listen-address=172.30.9.9:9090'] },
    ],
    ['the host network', 'redis', { network_mode: 'host', networks: ['stores'] }],
  ])('fails these checks with %s', (_what, name, change) => {
    expect(reachable(changed(name, change))).toHaveLength(1);
  });

  test.each<[string, string, Partial<Service>]>([
    [
      "the container engine's socket",
      'alloy',
      { volumes: ['/var/run/docker.sock:/var/run/docker.sock:ro'] },
    ],
    [
      'the same socket under another name',
      'alloy',
      { volumes: ['${SOCKET:-/run/podman/podman.sock}:/s'] },
    ],
    ['capabilities that are not dropped', 'grafana', { cap_drop: [] }],
    ['an added capability', 'runtime', { cap_add: ['SYS_ADMIN'] }],
    ['new privileges', 'loki', { security_opt: [] }],
    ['a writable root file system', 'nats', { read_only: false }],
    ['root in the container', 'backend', { user: '0:0' }],
    ['a privileged container', 'setup', { privileged: true }],
  ])('fails these checks with %s', (_what, name, change) => {
    expect(excess(changed(name, change))).toHaveLength(1);
  });
});
