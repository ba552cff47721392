import type { RunSpan } from '#lib/api/types.ts';

/** A span in the timeline. Positions are fractions of the whole period. */
export interface SpanRow {
  span: RunSpan;
  /** The depth in the tree of spans; 0 for a span without a parent. */
  depth: number;
  left: number;
  width: number;
  durationMs: number;
  /** The time between the start of the first span and the start of this span. */
  offsetMs: number;
}

/** Converts spans to rows. Each span is above its children, which are sorted by start time. A span whose parent is
 *  missing is treated as a root.
 *  @param nowMs the time at which the bars of active spans end */
export function spanRows(spans: readonly RunSpan[], nowMs: number): SpanRow[] {
  const startOf = (span: RunSpan) => Date.parse(span.started_at);
  const endOf = (span: RunSpan) =>
    Math.max(startOf(span), span.ended_at === null ? nowMs : Date.parse(span.ended_at));
  const fromMs = spans.reduce((least, span) => Math.min(least, startOf(span)), Infinity);
  const toMs = spans.reduce((most, span) => Math.max(most, endOf(span)), -Infinity);
  const totalMs = Math.max(1, toMs - fromMs);
  const ids = new Set(spans.map((span) => span.span_id));
  const children = new Map<string | null, RunSpan[]>();
  for (const span of spans) {
    const parent = span.parent_id !== null && ids.has(span.parent_id) ? span.parent_id : null;
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  const rows: SpanRow[] = [];
  const seen = new Set<string>();
  const waiting = [...roots(children)].map((span) => ({ span, depth: 0 })).toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { span, depth } = next;
    if (seen.has(span.span_id)) continue;
    seen.add(span.span_id);
    const durationMs = endOf(span) - startOf(span);
    const offsetMs = startOf(span) - fromMs;
    const place = { left: offsetMs / totalMs, width: durationMs / totalMs };
    rows.push({ span, depth, ...place, durationMs, offsetMs });
    const inside = sorted(children.get(span.span_id) ?? []);
    waiting.push(...inside.map((child) => ({ span: child, depth: depth + 1 })).toReversed());
  }
  return rows;
}

/** Returns the spans without a parent. Platform steps keep their order. */
function roots(children: ReadonlyMap<string | null, RunSpan[]>): RunSpan[] {
  const all = children.get(null) ?? [];
  const steps = all.filter((span) => span.kind === 'platform');
  return [...steps, ...sorted(all.filter((span) => span.kind === 'script'))];
}

function sorted(spans: readonly RunSpan[]): RunSpan[] {
  return spans.toSorted((one, other) => Date.parse(one.started_at) - Date.parse(other.started_at));
}

/** Returns the spans with one span added or replaced. */
export function withSpan(spans: readonly RunSpan[], span: RunSpan): RunSpan[] {
  const isKnown = spans.some(({ span_id: id }) => id === span.span_id);
  return isKnown
    ? spans.map((one) => (one.span_id === span.span_id ? span : one))
    : [...spans, span];
}
