/** Converts a graph layout to pixels: boxes for the scripts, and curves for the links between them. */
import type { Layout, Link, Spot } from './layout.ts';

export interface Box {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}

export interface Curve {
  readonly id: string;
  /** The `d` attribute of an SVG path. */
  readonly path: string;
  /** The position of the link's label. */
  readonly label: Point;
}

export interface Drawn {
  readonly boxes: readonly Box[];
  readonly curves: readonly Curve[];
  readonly width: number;
  readonly height: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Look {
  readonly width: number;
  readonly height: number;
  /** The gap between layers, which must fit the chain labels. */
  readonly layerGap: number;
  /** The gap between neighboring boxes in a layer. */
  readonly laneGap: number;
  /** Whether the graph is drawn from top to bottom instead of left to right. */
  readonly isDown: boolean;
}

const margin = 8;
const across: Look = { width: 150, height: 44, layerGap: 110, laneGap: 28, isDown: false };
/** Narrow screens show the graph from top to bottom. */
const down: Look = { width: 128, height: 44, layerGap: 72, laneGap: 16, isDown: true };
/** The maximum number of pixels by which boxes and gaps grow when space is available. */
const growthPx = 60;

/** Computes the size of boxes and gaps. On wide screens, the boxes are wider, to fit long names and chain labels. */
export function lookOf(layers: number, isDown: boolean, roomPx: number): Look {
  if (isDown) return down;
  const needed = layers * (across.width + across.layerGap) - across.layerGap + 2 * margin;
  const spare = Math.floor((roomPx - needed) / Math.max(1, 2 * layers - 1));
  const growth = Math.min(growthPx, Math.max(0, spare));
  return { ...across, width: across.width + growth, layerGap: across.layerGap + growth };
}

/** The space for links that point backward. These links pass below or next to the boxes. */
const backRoom = 36;

export function draw(layout: Layout, links: readonly Link[], look: Look): Drawn {
  const { isDown } = look;
  const cornerOf = ({ layer, lane }: Spot): Point => {
    const along = layer * ((isDown ? look.height : look.width) + look.layerGap);
    const across = lane * ((isDown ? look.width : look.height) + look.laneGap);
    return isDown
      ? { x: across + margin, y: along + margin }
      : { x: along + margin, y: across + margin };
  };
  const boxes = [...layout.nodes].map(([id, spot]) => ({ id, ...cornerOf(spot) }));
  const outOf = portsOf(links, layout, 'source');
  const into = portsOf(links, layout, 'target');
  const curves = links.flatMap((link): Curve[] => {
    const route = layout.routes.get(link.id) ?? [];
    const out = outOf.get(link.id) ?? only;
    const ports = { from: share(out), to: share(into.get(link.id) ?? only) };
    const at = labelPlace(link, links);
    return [{ id: link.id, ...curveOf(route.map(cornerOf), ports, at, look) }];
  });
  const hasBack = links.some((link) => leadsBack(layout.routes.get(link.id) ?? []));
  const [layers, lanes] = [layout.layers, layout.lanes];
  const along = layers * ((isDown ? look.height : look.width) + look.layerGap) - look.layerGap;
  const across = lanes * ((isDown ? look.width : look.height) + look.laneGap) - look.laneGap;
  const extra = 2 * margin;
  const back = hasBack ? backRoom : 0;
  return {
    boxes,
    curves,
    width: (isDown ? across + back : along) + extra,
    height: (isDown ? along : across + back) + extra,
  };
}

/** The position of a link's label along the link, chosen where other links are farthest away. */
function labelPlace(link: Link, links: readonly Link[]): number {
  const leaving = links.filter(({ source }) => source === link.source);
  const twins = leaving.filter(({ target }) => target === link.target);
  if (twins.length > 1) return 0.25 + (0.5 * twins.indexOf(link)) / (twins.length - 1);
  const arriving = links.filter(({ target }) => target === link.target);
  if (leaving.length === arriving.length) return 0.5;
  return leaving.length > arriving.length ? 0.6 : 0.4;
}

interface Port {
  readonly index: number;
  readonly of: number;
}
const only: Port = { index: 0, of: 1 };
const share = ({ index, of }: Port): number => (index + 1) / (of + 1);

function leadsBack(route: readonly Spot[]): boolean {
  const [first, last] = [route[0], route.at(-1)];
  return first !== undefined && last !== undefined && last.layer <= first.layer;
}

/** The order in which links attach to the side of a box, chosen so that neighboring links do not cross. */
function portsOf(
  links: readonly Link[],
  layout: Layout,
  end: 'source' | 'target',
): Map<string, Port> {
  const ports = new Map<string, Port>();
  for (const group of Map.groupBy(links, (link) => link[end]).values()) {
    const beyond = (link: Link): number =>
      layout.routes.get(link.id)?.at(end === 'source' ? 1 : -2)?.lane ?? 0;
    const sorted = group.toSorted((one, other) => beyond(one) - beyond(other));
    for (const [index, link] of sorted.entries()) ports.set(link.id, { index, of: sorted.length });
  }
  return ports;
}

/** @param corners the corners of the connected boxes and of the boxes that the curve passes between
 *  @param labelAt the position of the label along the first part, from 0 to 1 */
function curveOf(
  corners: readonly Point[],
  ports: { readonly from: number; readonly to: number },
  labelAt: number,
  look: Look,
): Omit<Curve, 'id'> {
  const { width, height, isDown } = look;
  const [first, last] = [corners[0] ?? zero, corners.at(-1) ?? zero];
  const back = isDown ? last.y <= first.y : last.x <= first.x;
  if (back) return backCurve(first, last, look);
  const leaves = ({ x, y }: Point, port: number): Point =>
    isDown ? { x: x + width * port, y: y + height } : { x: x + width, y: y + height * port };
  const enters = ({ x, y }: Point, port: number): Point =>
    isDown ? { x: x + width * port, y } : { x, y: y + height * port };
  let at = leaves(first, ports.from);
  let path = `M${at.x} ${at.y}`;
  let label: Point | undefined;
  for (const corner of corners.slice(1)) {
    const isLast = corner === last;
    const end = enters(corner, isLast ? ports.to : 0.5);
    const pull = (isDown ? end.y - at.y : end.x - at.x) / 2;
    const [one, two] = isDown
      ? [
          { x: at.x, y: at.y + pull },
          { x: end.x, y: end.y - pull },
        ]
      : [
          { x: at.x + pull, y: at.y },
          { x: end.x - pull, y: end.y },
        ];
    path += ` C${one.x} ${one.y} ${two.x} ${two.y} ${end.x} ${end.y}`;
    label ??= pointOn([at, one, two, end], labelAt);
    if (isLast) break;
    at = leaves(corner, 0.5);
    path += ` L${at.x} ${at.y}`;
  }
  return { path, label: label ?? at };
}

const zero: Point = { x: 0, y: 0 };

/** The curve of a disabled link that points backward, which passes below or next to the boxes. */
function backCurve(first: Point, last: Point, { width, height, isDown }: Look): Omit<Curve, 'id'> {
  const start = isDown
    ? { x: first.x + width, y: first.y + height / 2 }
    : { x: first.x + width / 2, y: first.y + height };
  const end = isDown
    ? { x: last.x + width, y: last.y + height / 2 }
    : { x: last.x + width / 2, y: last.y + height };
  const out = backRoom * 1.2;
  const [one, two] = isDown
    ? [
        { x: Math.max(start.x, end.x) + out, y: start.y },
        { x: Math.max(start.x, end.x) + out, y: end.y },
      ]
    : [
        { x: start.x, y: Math.max(start.y, end.y) + out },
        { x: end.x, y: Math.max(start.y, end.y) + out },
      ];
  return {
    path: `M${start.x} ${start.y} C${one.x} ${one.y} ${two.x} ${two.y} ${end.x} ${end.y}`,
    label: pointOn([start, one, two, end], 0.5),
  };
}

/** Computes a point on a cubic Bézier curve. */
function pointOn(points: readonly [Point, Point, Point, Point], t: number): Point {
  const rest = 1 - t;
  const shares = [rest ** 3, 3 * rest ** 2 * t, 3 * rest * t ** 2, t ** 3];
  const sum = (pick: (point: Point) => number): number =>
    points.reduce((total, point, index) => total + pick(point) * (shares[index] ?? 0), 0);
  return { x: sum(({ x }) => x), y: sum(({ y }) => y) };
}
