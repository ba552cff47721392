/** Formats a run's spans for API responses: the platform's spans, which are computed from events, and the script's
 *  spans. Pure. */
import type { Recorded } from '#domain/aggregates.ts';
import type { RunEvent, RunFinished } from '#domain/run/events.ts';
import type { RunTiming } from '#domain/run/run.ts';
import type { SpanValue, StoredSpan } from '#infra/postgres/logs/run-spans.ts';

export interface SpanJson {
  readonly span_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly kind: 'platform' | 'script';
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly status: 'running' | 'ok' | 'error' | 'unfinished';
  readonly attributes: Readonly<Record<string, SpanValue>>;
}

/** The name of the platform's span that contains the script's spans. */
const executing = 'run';

export function scriptSpanJson(span: StoredSpan, hasEnded: boolean): SpanJson {
  const open = hasEnded ? 'unfinished' : 'running';
  const closed = span.failed ? 'error' : 'ok';
  return {
    span_id: span.spanId,
    parent_id: span.parentId ?? executing,
    name: span.name,
    kind: 'script',
    started_at: span.startedAt,
    ended_at: span.endedAt,
    status: span.endedAt === null ? open : closed,
    attributes: span.attributes,
  };
}

/** The steps of a run, in order. A step without a recorded time is omitted. */
export function platformSpans(events: readonly Recorded<RunEvent>[]): readonly SpanJson[] {
  const queued = events.find((event) => event.type === 'RunQueued');
  if (queued === undefined) return [];
  const started = events.find((event) => event.type === 'RunStarted');
  const finished = events.find((event) => event.type === 'RunFinished');
  const timing: RunTiming = { ...started?.data.timing, ...finished?.data.timing };
  const time = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
  const claimed = time(timing.claimedAt);
  const prepared = time(timing.preparedAt);
  // Uses the time of the `RunStarted` event while the run is active, because the exact start is known only afterwards.
  const continued = time(timing.startedAt) ?? started?.recordedAt;
  const exited = time(timing.exitedAt);
  const steps: readonly (readonly [name: string, from: Date | undefined, to: Date | undefined])[] =
    [
      ['queue', queued.recordedAt, claimed ?? continued],
      ['environment', claimed, prepared],
      ['start', prepared, continued],
      [executing, continued, exited],
      ['report', exited, undefined],
    ];
  const end = finished?.recordedAt ?? null;
  const spans: SpanJson[] = [];
  for (const [name, from, to] of steps) {
    if (from === undefined) continue;
    // Prevents negative durations, because clocks on different machines can differ by milliseconds.
    const earliest = spans.at(-1)?.ended_at ?? from;
    const start = earlier(later(from, earliest), end);
    const stop = to === undefined ? end : later(earlier(to, end), start);
    spans.push({ ...blank, span_id: name, name, started_at: start, ended_at: stop, status: 'ok' });
  }
  return spans.map((span, index) => ({
    ...span,
    status: statusOf(span, index === lastWork(spans) ? finished?.data.outcome : undefined),
  }));
}

const blank = { parent_id: null, kind: 'platform', attributes: {} } as const;

/** The index of the step in which a run fails: the last step before `report`. */
function lastWork(spans: readonly SpanJson[]): number {
  return spans.findLastIndex(({ name }) => name !== 'report');
}

function statusOf(
  { ended_at: endedAt }: SpanJson,
  outcome: RunFinished['data']['outcome'] | undefined,
): SpanJson['status'] {
  if (endedAt === null) return 'running';
  return outcome === undefined || outcome === 'success' || outcome === 'stopped' ? 'ok' : 'error';
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function earlier(one: Date, other: Date | null): Date {
  return other !== null && other < one ? other : one;
}
