/** Reads the services of compose.yaml, so that tests start them as an operator does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { ContainerOptions, Mount } from './engine.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface ComposeService {
  readonly build: { readonly target: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly read_only: boolean;
  readonly security_opt: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

const { services } = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
};

export interface ComposeOptions {
  /** Variables that the operator sets, such as `ORCH_SITE`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Environment variables for the test, because all services share one network. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder in which `make-secrets` created the secrets. */
  readonly secrets: string;
  /** Creates a writable folder for a volume. @param path the path in the container */
  readonly volume: (path: string) => string;
  readonly mounts: readonly Mount[];
}

/** Returns the container of a service in compose.yaml. @throws Error if a required variable is missing */
export function composeContainer(name: string, options: ComposeOptions): ContainerOptions {
  const service = serviceOf(name);
  const environment = Object.entries(service.environment ?? {}).map(([key, value]) => [
    key,
    interpolate(value, options.variables),
  ]);
  const security = (prefix: string) =>
    service.security_opt.find((option) => option.startsWith(prefix))?.slice(prefix.length);
  const seccomp = security('seccomp=');
  return {
    target: service.build.target,
    command: service.command,
    environment: { ...Object.fromEntries(environment), ...options.environment },
    mounts: [
      ...(service.secrets ?? []).map((secret) => ({
        source: join(options.secrets, secret),
        path: `/run/secrets/${secret}`,
        writable: false,
      })),
      ...(service.volumes ?? []).map((volume) => {
        const path = volume.replace(/^[^:]+:/, '');
        return { source: options.volume(path), path, writable: true };
      }),
      ...options.mounts,
    ],
    tmpfs: service.tmpfs ?? [],
    capabilities: service.cap_add ?? [],
    readOnly: service.read_only,
    seccomp: seccomp === undefined ? undefined : join(root, seccomp),
    unmasked: security('systempaths=') === 'unconfined',
  };
}

/** Returns the health check of a service, with the test's ports instead of the usual ones. */
export function healthCheck(name: string, ports: ReadonlyMap<number, number>): readonly string[] {
  const [, ...command] = serviceOf(name).healthcheck?.test ?? [];
  return command.map((word) =>
    word.replace(/127\.0\.0\.1:(\d+)/, (found, port: string) => {
      const own = ports.get(Number(port));
      return own === undefined ? found : `127.0.0.1:${own}`;
    }),
  );
}

function serviceOf(name: string): ComposeService {
  const service = services[name];
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return service;
}

function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return String(text).replace(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind: string | undefined, rest: string) => {
      const value = variables[name];
      if (value !== undefined) return value;
      if (kind === '?') throw new Error(`${name} is missing: ${rest}`);
      return rest ?? '';
    },
  );
}
