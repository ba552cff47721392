import type { Bus } from '#domain/ports/bus.ts';
import type { Clock } from '#domain/ports/clock.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { saveSpans, type ScriptSpan, type SpanValue } from '#infra/postgres/logs/run-spans.ts';
import { storable } from '#services/shared/line-splitter.ts';
import { recordScriptSpan } from '#services/shared/tracing/run-spans.ts';
import type { Tracing } from '#services/shared/tracing/tracing.ts';
import Type, { type Static } from 'typebox';
import { answered, refused, sdkCall, type SdkCalls, type SdkContext } from '../call.ts';
import { maskedValue } from './json.ts';

/** The maximum number of spans per run. */
const maxSpans = 1000;
const maxAttributesBytes = 4096;

const SpanId = Type.String({ pattern: '^[0-9a-f]{16}$' });
const Milliseconds = Type.Number({ minimum: 0, maximum: 1e14 });
const Attribute = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const GivenSpan = Type.Object(
  {
    id: SpanId,
    parent_id: Type.Union([SpanId, Type.Null()]),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    // Milliseconds since 1970, according to the clock that the script sees.
    started_at: Milliseconds,
    ended_at: Type.Union([Milliseconds, Type.Null()]),
    failed: Type.Boolean(),
    attributes: Type.Record(Type.String(), Attribute, { maxProperties: 32 }),
  },
  { additionalProperties: false },
);
type GivenSpan = Static<typeof GivenSpan>;

export interface SpanCallsDeps {
  readonly database: Queryable;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  readonly tracing: Tracing | undefined;
}

interface KnownSpans {
  /** Whether each span is finished, by span ID. */
  readonly hasEnded: Map<string, boolean>;
  /**
   * The platform's clock minus this machine's clock, in milliseconds. The whole run uses the same value. Otherwise, a
   * clock adjustment could make a span start before its parent.
   */
  readonly offset: number;
}

/** Calls that record a run's spans. Scripts are not trusted, so times are limited to the run's duration. Names and
 *  attributes are limited in size, and masked as in the log. */
export function spanCalls({ database, bus, clock, tracing }: SpanCallsDeps): SdkCalls {
  /** The spans of each active run. */
  const known = new WeakMap<SdkContext, KnownSpans>();
  return {
    spans: sdkCall({
      arguments: Type.Object(
        { spans: Type.Array(GivenSpan, { minItems: 1, maxItems: 50 }) },
        { additionalProperties: false },
      ),
      handle: async ({ spans: given }, context) => {
        const tooLarge = given.find(
          ({ attributes }) => Buffer.byteLength(JSON.stringify(attributes)) > maxAttributesBytes,
        );
        if (tooLarge) {
          return refused(
            'limit_reached',
            `The attributes of a span exceed ${maxAttributesBytes} bytes as JSON.`,
          );
        }
        const now = clock.now().getTime();
        const { hasEnded, offset } = known.get(context) ?? {
          hasEnded: new Map<string, boolean>(),
          offset: now - Date.now(),
        };
        known.set(context, { hasEnded, offset });
        const taken = new Map<string, ScriptSpan>();
        let dropped = 0;
        for (const span of given) {
          const isKnown = hasEnded.has(span.id);
          if (!isKnown && hasEnded.size >= maxSpans) {
            dropped += 1;
            continue;
          }
          if (hasEnded.get(span.id) === true) continue;
          hasEnded.set(span.id, span.ended_at !== null);
          taken.set(span.id, takenSpan(span, context, now, offset));
        }
        if (taken.size > 0) {
          const { runId } = context.run;
          await saveSpans(database, runId, [...taken.values()]);
          bus.publish({ topic: 'spans', runId });
          for (const span of taken.values()) {
            if (tracing) recordScriptSpan(tracing, context.run, span);
          }
        }
        return answered({ dropped });
      },
    }),
  };
}

function takenSpan(
  span: GivenSpan,
  { run, log }: SdkContext,
  now: number,
  offset: number,
): ScriptSpan {
  const within = (ms: number, earliest: number) =>
    new Date(Math.min(now, Math.max(earliest, Math.round(ms + offset))));
  const startedAt = within(span.started_at, run.queuedAt.getTime());
  const shown = (text: string) => log.masked(storable(text));
  return {
    spanId: span.id,
    parentId: span.parent_id,
    name: shown(span.name),
    startedAt,
    endedAt: span.ended_at === null ? null : within(span.ended_at, startedAt.getTime()),
    failed: span.failed,
    attributes: maskedValue(span.attributes, shown) as Readonly<Record<string, SpanValue>>,
  };
}
