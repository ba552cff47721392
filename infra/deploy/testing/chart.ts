/** Renders and checks the Helm chart with helm and kubeconform. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { findProgram } from '#infra/testing/find-program.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const chart = join(root, 'infra/deploy/helm');
export const schemas = join(root, '.toolchain/kubernetes-schemas');
/** The names of the value sets in the chart's `ci` folder. */
export const valueSets = readdirSync(join(chart, 'ci')).toSorted();
/** The oldest and the newest Kubernetes version that the chart supports. */
export const versions = ['1.30.0', '1.37.0'] as const;

const built = [join(root, '.toolchain/go/bin')];
const reason = 'not on this machine (Go and Python needed: .ci/install-kubernetes-tools)';
export const helm = { service: 'Helm', found: findProgram('helm', built), reason };
export const kubeconform = {
  service: 'kubeconform',
  found: existsSync(schemas) ? findProgram('kubeconform', built) : undefined,
  reason,
};

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly startupProbe?: object;
  readonly livenessProbe?: { readonly httpGet?: { readonly path: string } };
  readonly readinessProbe?: object | undefined;
}
export interface Volume {
  readonly name: string;
  readonly hostPath?: object;
  readonly secret?: { readonly items?: readonly { readonly key: string; readonly path: string }[] };
}
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}
type Labels = Readonly<Record<string, string>>;
export interface Peer {
  readonly podSelector?: { readonly matchLabels?: Labels };
  readonly namespaceSelector?: object;
  readonly ipBlock?: { readonly cidr: string };
}
interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: number }[];
}
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Labels };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
    readonly selector?: { readonly matchLabels?: Labels } & Labels;
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
    readonly ports?: readonly { readonly name: string; readonly targetPort: string | number }[];
    readonly maxUnavailable?: number;
    readonly triggers?: readonly { readonly metadata: Labels }[];
  };
}

/** Runs Helm. @throws Error that contains Helm's standard error */
export function runHelm(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(helm.found ?? '', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Renders manifests as text. @param more additional arguments, such as more values */
export function renderText(valueSet: string, more: readonly string[] = []): string {
  const values = join(chart, 'ci', valueSet);
  const release = ['template', 'orchestrator', chart, '--namespace', 'scripts'];
  return runHelm([...release, '--kube-version', '1.37.0', '--values', values, ...more]);
}

/** @returns the manifests in a YAML text */
export function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if ('errors' in document && document.errors[0] !== undefined) throw document.errors[0];
    const manifest = ('toJS' in document ? document.toJS() : null) as
      | (Omit<Manifest, 'spec'> & Partial<Pick<Manifest, 'spec'>>)
      | null;
    // A ConfigMap has no spec.
    return manifest === null ? [] : [{ ...manifest, spec: manifest.spec ?? {} }];
  });
}

/** Returns kubeconform's report on manifest files. @param custom the folder that contains the schemas of custom
 *  resources */
export function conform(version: string, files: readonly string[], custom: string): string {
  const name = '{{.ResourceKind}}{{.KindSuffix}}.json';
  const locations = [`${schemas}/{{.NormalizedKubernetesVersion}}/${name}`, `${custom}/${name}`];
  const options = ['-strict', '-summary', '-kubernetes-version', version];
  const { stdout } = spawnSync(
    kubeconform.found ?? '',
    [...options, ...locations.flatMap((location) => ['-schema-location', location]), ...files],
    { encoding: 'utf8' },
  );
  return stdout;
}

/** Runs a program. @throws Error if the program fails */
export function run(program: string, args: readonly string[], cwd = root): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
