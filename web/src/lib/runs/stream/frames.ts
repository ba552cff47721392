import type { LogLine, Run, RunProgress, RunSample, RunSpan, RunStatus } from '#lib/api/types.ts';

/** A frame of `/ws/runs/{run_id}`, sent as JSON text. */
export type RunFrame =
  | { type: 'log'; items: LogLine[] }
  | { type: 'status'; run: Run }
  | { type: 'progress'; progress: RunProgress }
  | { type: 'span'; span: RunSpan }
  | ({ type: 'sample' } & RunSample)
  | { type: 'end'; status: RunStatus };

/** Parses a frame; returns null if its type is unknown. */
export function parseFrame(text: string): RunFrame | null {
  const frame: unknown = JSON.parse(text);
  if (typeof frame !== 'object' || frame === null || !('type' in frame)) return null;
  const known = ['log', 'status', 'progress', 'span', 'sample', 'end'];
  return known.includes(String(frame.type)) ? (frame as RunFrame) : null;
}
