/** Converts schedule definitions from and to the API. */
import { parseCalendarId } from '#domain/kernel/ids.ts';
import {
  definitionProblem,
  type DefinitionProblem,
  type ScheduleDefinition,
} from '#domain/schedule/schedule.ts';
import type { Static } from 'typebox';
import { fieldProblem, isProblem, type Problem, problem } from '../http/problem.ts';
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
  const isOnce = timing.kind === 'once';
  const startAt = isOnce ? null : momentOf('start_at', changes.start_at, present?.startAt);
  if (isProblem(startAt)) return startAt;
  const endAt = isOnce ? null : momentOf('end_at', changes.end_at, present?.endAt);
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
    ...calendarOf(changes, before),
    ...nameOf(changes, before),
  };
  const wrong = definitionProblem(definition);
  if (wrong === undefined) return definition;
  const { part, detail } = wrong;
  return problem('validation_failed', detail, { errors: [{ pointer: `/${names[part]}`, detail }] });
}

function calendarOf(
  { calendar_id: wanted }: Changes,
  { calendarId: present }: Pick<ScheduleDefinition, 'calendarId'>,
): Pick<ScheduleDefinition, 'calendarId'> {
  if (wanted === undefined) return present === undefined ? {} : { calendarId: present };
  const calendarId = wanted === null ? undefined : parseCalendarId(wanted);
  return calendarId === undefined ? {} : { calendarId };
}

function nameOf(
  { name: wanted }: Changes,
  { name: present }: Pick<ScheduleDefinition, 'name'>,
): Pick<ScheduleDefinition, 'name'> {
  const name = (wanted === undefined ? present : wanted)?.trim();
  return name ? { name } : {};
}

type TimingOf<Kind extends ScheduleDefinition['kind']> = Pick<
  Extract<ScheduleDefinition, { kind: Kind }>,
  'kind' | 'cron' | 'intervalSeconds'
>;

type Timing =
  | TimingOf<'cron'>
  | TimingOf<'interval'>
  | (TimingOf<'once'> & Pick<Extract<ScheduleDefinition, { kind: 'once' }>, 'onceAt'>);

/** The field that each kind of definition requires. The fields of the other kinds are not permitted. */
const fieldOf = { cron: 'cron', interval: 'interval_seconds', once: 'once_at' } as const;
const kinds = ['cron', 'interval', 'once'] as const;

function timingOf(changes: Changes, present: ScheduleDefinition | undefined): Timing | Problem {
  const { cron, interval_seconds: seconds, once_at: onceAt } = changes;
  const kind = changes.kind ?? kinds.find((one) => isGiven(changes[fieldOf[one]])) ?? present?.kind;
  if (kind === undefined) {
    return fieldProblem('cron', 'is required, unless "interval_seconds" or "once_at" is given');
  }
  const other = kinds.find((one) => one !== kind && isGiven(changes[fieldOf[one]]));
  if (other !== undefined)
    return fieldProblem(fieldOf[other], `is not allowed for a ${kind} schedule`);
  switch (kind) {
    case 'cron': {
      const text = cron === undefined ? present?.cron : cron;
      return isGiven(text)
        ? { kind, cron: text, intervalSeconds: null }
        : fieldProblem('cron', 'is required for a cron schedule');
    }
    case 'interval': {
      const wanted = seconds === undefined ? present?.intervalSeconds : seconds;
      return isGiven(wanted)
        ? { kind, cron: null, intervalSeconds: wanted }
        : fieldProblem('interval_seconds', 'is required for an interval schedule');
    }
    case 'once': {
      const before = present?.kind === 'once' ? present.onceAt : undefined;
      const wanted = momentOf('once_at', onceAt, before);
      if (isProblem(wanted)) return wanted;
      return wanted === null
        ? fieldProblem('once_at', 'is required for a one-shot schedule')
        : { kind, cron: null, intervalSeconds: null, onceAt: wanted };
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
  return Number.isNaN(ms) ? fieldProblem(name, 'is not a valid time') : new Date(ms).toISOString();
}
