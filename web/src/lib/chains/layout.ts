/** Arranges a graph of chains in layers, so that each enabled chain points forward. The result consists of layers and
 *  lanes, not pixels. */

export interface Link {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  /** Only a disabled chain may point backward. */
  readonly enabled: boolean;
}

/** A position in a layer, occupied by a node or by the bend of a link that passes through the layer. */
export interface Spot {
  readonly layer: number;
  /** The index within the layer, starting at 0. */
  readonly lane: number;
}

export interface Layout {
  readonly nodes: ReadonlyMap<string, Spot>;
  /** The positions that each link passes through, including both nodes, by link ID. */
  readonly routes: ReadonlyMap<string, readonly Spot[]>;
  readonly layers: number;
  readonly lanes: number;
}

const sweeps = 6;

/** Computes the layout. Disconnected parts of the graph are placed next to each other, the largest first. */
export function layOut(links: readonly Link[]): Layout {
  const nodes = new Map<string, Spot>();
  const routes = new Map<string, readonly Spot[]>();
  let layers = 0;
  let lanes = 0;
  for (const part of partsOf(links)) {
    const laid = layOutPart(part);
    const moved = ({ layer, lane }: Spot): Spot => ({ layer, lane: lane + lanes });
    for (const [id, spot] of laid.nodes) nodes.set(id, moved(spot));
    for (const [id, route] of laid.routes) routes.set(id, route.map(moved));
    layers = Math.max(layers, laid.layers);
    lanes += laid.lanes;
  }
  return { nodes, routes, layers, lanes };
}

/** Finds the path of enabled chains from `target` back to `source`, including both. Returns null if none exists. */
export function findCycle(
  links: readonly Link[],
  source: string,
  target: string,
): readonly string[] | null {
  const cameFrom = new Map<string, string | null>([[target, null]]);
  for (const at of cameFrom.keys()) {
    if (at === source) return wayTo(source, cameFrom);
    for (const link of links) {
      if (link.enabled && link.source === at && !cameFrom.has(link.target)) {
        cameFrom.set(link.target, at);
      }
    }
  }
  return null;
}

function wayTo(end: string, cameFrom: ReadonlyMap<string, string | null>): readonly string[] {
  const way: string[] = [];
  for (let at: string | null = end; at !== null; at = cameFrom.get(at) ?? null) way.unshift(at);
  return way;
}

function partsOf(links: readonly Link[]): Link[][] {
  const parts: { nodes: Set<string>; links: Link[] }[] = [];
  for (const link of links) {
    const touched = parts.filter(({ nodes }) => nodes.has(link.source) || nodes.has(link.target));
    const joined = {
      nodes: new Set([link.source, link.target, ...touched.flatMap(({ nodes }) => [...nodes])]),
      links: [...touched.flatMap((part) => part.links), link],
    };
    for (const part of touched) parts.splice(parts.indexOf(part), 1);
    parts.push(joined);
  }
  return parts
    .toSorted((one, other) => other.nodes.size - one.nodes.size)
    .map((part) => part.links);
}

function layOutPart(links: readonly Link[]): Layout {
  const layerOf = layersOf(links);
  const rows: string[][] = [];
  const place = (name: string, layer: number) => (rows[layer] ??= []).push(name);
  for (const [node, layer] of layerOf) place(node, layer);
  const ways = new Map(links.map((link) => [link.id, bendsOf(link, layerOf, place)]));
  order(rows, [...ways.values()]);
  const lanes = Math.max(...rows.map((row) => row.length));
  const spots = new Map<string, Spot>();
  for (const [layer, row] of rows.entries()) {
    const before = (lanes - row.length) / 2;
    for (const [index, name] of row.entries()) spots.set(name, { layer, lane: before + index });
  }
  const spotOf = (name: string): Spot => spots.get(name) ?? { layer: 0, lane: 0 };
  return {
    nodes: new Map([...layerOf.keys()].map((node) => [node, spotOf(node)])),
    routes: new Map([...ways].map(([id, way]) => [id, way.map(spotOf)])),
    layers: rows.length,
    lanes,
  };
}

/** Assigns each node a layer: the length of the longest path that leads to the node. Links that would close a cycle are
 *  ignored. */
function layersOf(links: readonly Link[]): Map<string, number> {
  const forward: Link[] = [];
  for (const link of links.toSorted((one, other) => Number(other.enabled) - Number(one.enabled))) {
    const counted = forward.map((one) => ({ ...one, enabled: true }));
    if (findCycle(counted, link.source, link.target) === null) forward.push(link);
  }
  const layerOf = new Map<string, number>();
  for (const { source, target } of links) layerOf.set(source, 0).set(target, 0);
  let moved = true;
  while (moved) {
    moved = false;
    for (const { source, target } of forward) {
      const least = (layerOf.get(source) ?? 0) + 1;
      if ((layerOf.get(target) ?? 0) >= least) continue;
      layerOf.set(target, least);
      moved = true;
    }
  }
  return layerOf;
}

/** The names of all nodes on the path of a link, with an artificial node in each layer that the link crosses. */
function bendsOf(
  { id, source, target }: Link,
  layerOf: ReadonlyMap<string, number>,
  place: (name: string, layer: number) => void,
): readonly string[] {
  const [from, to] = [layerOf.get(source) ?? 0, layerOf.get(target) ?? 0];
  const bends: string[] = [];
  for (let layer = from + 1; layer < to; layer += 1) {
    const bend = `${id}:${layer}`;
    place(bend, layer);
    bends.push(bend);
  }
  return [source, ...bends, target];
}

/** Orders each layer so that linked nodes are close to each other: each node moves to the median position of its
 *  neighbors. */
function order(rows: string[][], ways: readonly (readonly string[])[]): void {
  const neighbours = new Map<string, string[]>();
  const join = (one: string, other: string) =>
    neighbours.set(one, [...(neighbours.get(one) ?? []), other]);
  for (const way of ways) {
    for (const [index, name] of way.slice(1).entries()) {
      const before = way[index] ?? name;
      join(before, name);
      join(name, before);
    }
  }
  const middle = (name: string, row: readonly string[], index: number): number => {
    const places = (neighbours.get(name) ?? []).map((one) => row.indexOf(one));
    const found = places.filter((at) => at >= 0);
    return found.length === 0 ? index : found.reduce((sum, at) => sum + at, 0) / found.length;
  };
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    const forward = sweep % 2 === 0;
    for (let step = 1; step < rows.length; step += 1) {
      const at = forward ? step : rows.length - 1 - step;
      const adjacent = rows[forward ? at - 1 : at + 1] ?? [];
      const row = rows[at] ?? [];
      const keyed = row.map((name, index) => ({ name, key: middle(name, adjacent, index) }));
      rows[at] = keyed.toSorted((one, other) => one.key - other.key).map(({ name }) => name);
    }
  }
}
