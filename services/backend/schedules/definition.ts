/** Converts schedule definitions from and to the API. */
import {
  definitionProblem,
  type DefinitionProblem,
  type ScheduleDefinition,
} from '#domain/schedule/schedule.ts';
import type { Static } from 'typebox';
import { isProblem, problem, badField, type Problem } from '../http/problem.ts';
import type { ScheduleChanges } from './schema.ts';

type Changes = Static<typeof ScheduleChanges>;

const usual: Omit<ScheduleDefinition, 'kind' | 'cron' | 'intervalSeconds'> = {
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  enabled: true,
  catchUp: 'last',
  maxLatenessSeconds: 3600,
  overlap: 'skip',
  paramsSha256: null,
};

const names: Readonly<Record<DefinitionProblem['part'], string>> = {
  cron: 'cron',
  timezone: 'timezone',
  endAt: 'end_at',
};

/** Applies changes to a definition.
 *  @param present the existing definition; absent for a new schedule */
export function definitionOf(
  changes: Changes,
  present: ScheduleDefinition | undefined,
): ScheduleDefinition | Problem {
  const timing = timingOf(changes, present);
  if (isProblem(timing)) return timing;
  const startAt = momentOf('start_at', changes.start_at, present?.startAt);
  if (isProblem(startAt)) return startAt;
  const endAt = momentOf('end_at', changes.end_at, present?.endAt);
  if (isProblem(endAt)) return endAt;
  const before = present ?? usual;
  const definition: ScheduleDefinition = {
    ...timing,
    timezone: changes.timezone ?? before.timezone,
    startAt,
    endAt,
    enabled: changes.enabled ?? before.enabled,
    catchUp: changes.catch_up ?? before.catchUp,
    maxLatenessSeconds: changes.max_lateness_seconds ?? before.maxLatenessSeconds,
    overlap: changes.overlap ?? before.overlap,
    paramsSha256: before.paramsSha256,
  };
  const wrong = definitionProblem(definition);
  if (wrong === undefined) return definition;
  const { part, detail } = wrong;
  return problem('validation_failed', detail, { errors: [{ pointer: `/${names[part]}`, detail }] });
}

type Timing =
  | Pick<Extract<ScheduleDefinition, { kind: 'cron' }>, 'kind' | 'cron' | 'intervalSeconds'>
  | Pick<Extract<ScheduleDefinition, { kind: 'interval' }>, 'kind' | 'cron' | 'intervalSeconds'>;

function timingOf(
  { kind: named, cron, interval_seconds: seconds }: Changes,
  present: ScheduleDefinition | undefined,
): Timing | Problem {
  const kind = named ?? (isGiven(cron) ? 'cron' : isGiven(seconds) ? 'interval' : present?.kind);
  switch (kind) {
    case undefined:
      return badField('cron', 'use either this field or "interval_seconds"');
    case 'cron': {
      if (isGiven(seconds))
        return badField('interval_seconds', 'is not allowed for a cron schedule');
      const text = cron === undefined ? present?.cron : cron;
      return isGiven(text)
        ? { kind, cron: text, intervalSeconds: null }
        : badField('cron', 'is required for a cron schedule');
    }
    case 'interval': {
      if (isGiven(cron)) return badField('cron', 'is not allowed for an interval schedule');
      const wanted = seconds === undefined ? present?.intervalSeconds : seconds;
      return isGiven(wanted)
        ? { kind, cron: null, intervalSeconds: wanted }
        : badField('interval_seconds', 'is required for an interval schedule');
    }
  }
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

function momentOf(
  name: string,
  text: string | null | undefined,
  present: string | null | undefined,
): string | null | Problem {
  if (text === undefined) return present ?? null;
  if (text === null) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? badField(name, 'is not a valid time') : new Date(ms).toISOString();
}
