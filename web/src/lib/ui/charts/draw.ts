/** Draws a time series chart. Import this module dynamically, because it includes the chart library. */
import {
  BarController,
  BarElement,
  Chart,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
  type ChartConfiguration,
  type ChartDataset,
  type TooltipItem,
} from 'chart.js';
import { decadesOf } from './axes.ts';
import { colorOf, withAlpha } from './colors.ts';
import type { ChartModel, Series } from './model.ts';

Chart.register(
  BarController,
  BarElement,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  PointElement,
  Tooltip,
);

/** Space at the edge of a chart for the points drawn there, in pixels. */
const pointSpace = 6;

export interface Drawing {
  /** Displays new data, or redraws the current data in the current theme. */
  show(model: ChartModel): void;
  /** Converts a horizontal pixel position to a time. `pixelsAt` is the inverse. */
  placeAt(pixels: number): number;
  pixelsAt(place: number): number;
  /** Returns the URL of the item at the pointer position, or undefined if none exists. */
  hrefAt(event: PointerEvent): string | undefined;
  /** Returns the start and end of the time axis. */
  range(): readonly [number, number];
  destroy(): void;
}

export function draw(canvas: HTMLCanvasElement, model: ChartModel): Drawing {
  const chart = new Chart(canvas, configOf(canvas, model));
  let shown = model;
  const range = () => {
    const { min, max } = chart.scales['x'] ?? { min: 0, max: 0 };
    return [min, max] as const;
  };
  return {
    show(next) {
      shown = next;
      const { data, options } = configOf(canvas, next);
      chart.data = data;
      if (options) chart.options = options;
      chart.update('none');
    },
    placeAt(pixels) {
      const [min, max] = range();
      const place = chart.scales['x']?.getValueForPixel(pixels) ?? min;
      return Math.min(max, Math.max(min, place));
    },
    pixelsAt: (place) => chart.scales['x']?.getPixelForValue(place) ?? 0,
    hrefAt(event) {
      const [found] = chart.getElementsAtEventForMode(event, 'nearest', { intersect: true }, false);
      return found && shown.series[found.datasetIndex]?.items?.[found.index]?.href;
    },
    range,
    destroy: () => chart.destroy(),
  };
}

/** The label width in pixels, enough for "100.0 MiB". */
const labelsWidth = 60;

type Kind = 'line' | 'bar';

function configOf(canvas: HTMLCanvasElement, model: ChartModel): ChartConfiguration<Kind> {
  const muted = colorOf(canvas, '--muted-foreground');
  const grid = { color: colorOf(canvas, '--border') };
  const font = { family: getComputedStyle(canvas).fontFamily, size: 11 };
  const stacked = model.kind === 'bars';
  const isScatter = model.kind === 'points';
  return {
    type: stacked ? 'bar' : 'line',
    data: { datasets: model.series.map((series) => datasetOf(canvas, series, model.kind)) },
    options: {
      animation: false,
      parsing: false,
      normalized: true,
      maintainAspectRatio: false,
      // Leaves enough space for a point at the current time. All charts have the same space, so that their axes align.
      layout: { padding: { right: pointSpace } },
      interaction: isScatter
        ? { mode: 'nearest', intersect: true }
        : { mode: 'index', intersect: false, axis: 'x' },
      plugins: {
        tooltip: {
          callbacks: {
            title: (items) => (items[0] ? model.titleOf(items[0].parsed.x ?? 0) : ''),
            label: (item) => `${labelOf(model, item)}: ${model.valueOf(item.parsed.y ?? 0)}`,
          },
        },
      },
      scales: {
        x: {
          type: 'linear',
          stacked,
          ...(model.range && { min: model.range[0], max: model.range[1] }),
          offset: false,
          grid: { display: false },
          border: grid,
          ...(model.ticks && { afterBuildTicks: (axis) => (axis.ticks = ticksAt(model.ticks)) }),
          ticks: {
            color: muted,
            font,
            maxTicksLimit: 6,
            maxRotation: 0,
            callback: (value) => model.tickOf(Number(value)),
          },
        },
        y: {
          // The time axes of stacked charts align only if all value labels have the same width.
          afterFit: (axis) => (axis.width = labelsWidth),
          ...(isScatter ? { type: 'logarithmic', ...decadesOf(model) } : { beginAtZero: true }),
          stacked,
          grid,
          border: { display: false },
          ticks: {
            color: muted,
            font,
            ...(!isScatter && { maxTicksLimit: 4 }),
            callback: (value) =>
              isScatter && !isPowerOfTen(Number(value)) ? null : model.valueOf(Number(value)),
          },
        },
      },
    },
  };
}

/** Returns the label of a point's item with the series name, or only the series name if the point has no item. */
function labelOf(model: ChartModel, item: TooltipItem<Kind>): string {
  const name = model.series[item.datasetIndex]?.items?.[item.dataIndex]?.label;
  return [name, item.dataset.label].filter(Boolean).join(', ');
}

const isPowerOfTen = (value: number): boolean => Number.isInteger(Math.log10(value));

function ticksAt(places: number[] = []): { value: number }[] {
  return places.map((value) => ({ value }));
}

/** Draws a dot for a point without neighbors, because a single point forms no line. */
function radiusOf(points: Series['points'], index: number): number {
  const isAlone = points[index - 1]?.[1] == null && points[index + 1]?.[1] == null;
  return isAlone ? 2 : 0;
}

function datasetOf(
  canvas: HTMLCanvasElement,
  { name, color, points, shape }: Series,
  kind: ChartModel['kind'],
): ChartDataset<Kind> {
  const line = colorOf(canvas, color);
  const data = points.map(([x, y]) => ({ x, y: y ?? Number.NaN }));
  if (kind === 'bars') {
    return { label: name, data, backgroundColor: line, hoverBackgroundColor: line, grouped: false };
  }
  if (kind === 'points') {
    return {
      type: 'line',
      label: name,
      data,
      showLine: false,
      clip: pointSpace,
      pointStyle: shape ?? 'circle',
      pointRadius: 3.5,
      pointHoverRadius: 5,
      pointHitRadius: 4,
      pointBackgroundColor: withAlpha(line, shape === 'circle' ? 0.55 : 1),
      pointBorderColor: line,
      pointBorderWidth: shape === 'crossRot' ? 2 : 1,
    };
  }
  return {
    type: 'line',
    label: name,
    data,
    borderColor: line,
    borderWidth: 1.5,
    backgroundColor: withAlpha(line, 0.12),
    fill: true,
    pointRadius: points.map((_, index) => radiusOf(points, index)),
    pointBackgroundColor: line,
    pointHoverBackgroundColor: line,
    pointHoverBorderColor: line,
    pointHitRadius: 8,
    tension: 0,
  };
}
