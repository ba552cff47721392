/** Determines which connections the network policies in a set of manifests allow. */
import type { Manifest, Peer } from './chart.ts';

const component = 'app.kubernetes.io/component';

/** Returns the connections between components that both ends allow, such as `backend → postgres:5432`. Connections that
 *  only one end allows are listed separately. */
export function flowsOf(manifests: readonly Manifest[]): {
  readonly allowed: readonly string[];
  readonly halfOpen: readonly string[];
} {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const outgoing = new Set<string>();
  const incoming = new Set<string>();
  for (const { spec } of policies) {
    const own = spec.podSelector?.matchLabels[component];
    if (own === undefined) continue;
    for (const { to = [], ports = [] } of spec.egress ?? []) {
      for (const peer of to.flatMap(nameOf)) {
        for (const { port } of ports) outgoing.add(`${own} → ${peer}:${port}`);
      }
    }
    for (const { from = [], ports = [] } of spec.ingress ?? []) {
      for (const peer of from.flatMap(nameOf)) {
        for (const { port } of ports) incoming.add(`${peer} → ${own}:${port}`);
      }
    }
  }
  return {
    allowed: [...outgoing].filter((flow) => incoming.has(flow)).toSorted(),
    halfOpen: [...outgoing.symmetricDifference(incoming)].toSorted(),
  };
}

/** Returns connections to and from other addresses, such as `backend → 0.0.0.0/0:443`. */
export function outsideFlowsOf(manifests: readonly Manifest[]): readonly string[] {
  return manifests
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .flatMap(({ spec }) => {
      const own = spec.podSelector?.matchLabels[component];
      if (own === undefined) return [];
      const words = (peers: readonly Peer[], ports: readonly { readonly port: number }[]) =>
        peers
          .filter((peer) => nameOf(peer).length === 0)
          .flatMap((peer) =>
            (ports.length === 0 ? ['*'] : ports.map(({ port }) => port)).map(
              (port) => `${peer.ipBlock?.cidr ?? 'pods'}:${port}`,
            ),
          );
      return [
        ...(spec.egress ?? []).flatMap(({ to = [], ports = [] }) =>
          words(to, ports).map((word) => `${own} → ${word}`),
        ),
        ...(spec.ingress ?? []).flatMap(({ from = [], ports = [] }) =>
          words(from, ports).map((word) => `${word} → ${own}`),
        ),
      ];
    })
    .toSorted();
}

/** Returns the component that a peer selects. */
function nameOf({ podSelector, namespaceSelector }: Peer): readonly string[] {
  const name = podSelector?.matchLabels?.[component];
  return name === undefined || namespaceSelector !== undefined ? [] : [name];
}
