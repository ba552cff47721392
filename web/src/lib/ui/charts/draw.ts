/** Draws a chart over time. Import this module dynamically: it includes the drawing library. */
import {
  BarController,
  BarElement,
  Chart,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
  type ChartConfiguration,
  type ChartDataset,
} from 'chart.js';
import { colorOf, withAlpha } from './colors.ts';
import type { ChartModel, Series } from './model.ts';

Chart.register(
  BarController,
  BarElement,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
);

export interface Drawing {
  /** Shows other data, or the same data in the current theme. */
  show(model: ChartModel): void;
  /** Converts a distance from the left in pixels to a time, and back. */
  placeAt(pixels: number): number;
  pixelsAt(place: number): number;
  /** The whole time axis. */
  range(): readonly [number, number];
  destroy(): void;
}

export function draw(canvas: HTMLCanvasElement, model: ChartModel): Drawing {
  const chart = new Chart(canvas, configOf(canvas, model));
  const range = () => {
    const { min, max } = chart.scales['x'] ?? { min: 0, max: 0 };
    return [min, max] as const;
  };
  return {
    show(next) {
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
    range,
    destroy: () => chart.destroy(),
  };
}

/** Pixels; enough for "100.0 MiB". */
const labelsWidth = 60;

type Kind = 'line' | 'bar';

function configOf(canvas: HTMLCanvasElement, model: ChartModel): ChartConfiguration<Kind> {
  const muted = colorOf(canvas, '--muted-foreground');
  const grid = { color: colorOf(canvas, '--border') };
  const font = { family: getComputedStyle(canvas).fontFamily, size: 11 };
  const stacked = model.kind === 'bars';
  return {
    type: stacked ? 'bar' : 'line',
    data: { datasets: model.series.map((series) => datasetOf(canvas, series, model.kind)) },
    options: {
      animation: false,
      parsing: false,
      normalized: true,
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false, axis: 'x' },
      plugins: {
        tooltip: {
          callbacks: {
            title: (items) => (items[0] ? model.titleOf(items[0].parsed.x ?? 0) : ''),
            label: (item) => `${item.dataset.label}: ${model.valueOf(item.parsed.y ?? 0)}`,
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
          // Charts above each other have the same time axis only with labels of the same width.
          afterFit: (axis) => (axis.width = labelsWidth),
          beginAtZero: true,
          stacked,
          grid,
          border: { display: false },
          ticks: {
            color: muted,
            font,
            maxTicksLimit: 4,
            callback: (value) => model.valueOf(Number(value)),
          },
        },
      },
    },
  };
}

function ticksAt(places: number[] = []): { value: number }[] {
  return places.map((value) => ({ value }));
}

/** A point without neighbours is drawn as a dot. */
function radiusOf(points: Series['points'], index: number): number {
  const isAlone = points[index - 1]?.[1] == null && points[index + 1]?.[1] == null;
  return isAlone ? 2 : 0;
}

function datasetOf(
  canvas: HTMLCanvasElement,
  { name, color, points }: Series,
  kind: ChartModel['kind'],
): ChartDataset<Kind> {
  const line = colorOf(canvas, color);
  const data = points.map(([x, y]) => ({ x, y: y ?? Number.NaN }));
  if (kind === 'bars') {
    return { label: name, data, backgroundColor: line, hoverBackgroundColor: line, grouped: false };
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
