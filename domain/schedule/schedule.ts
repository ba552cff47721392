/** The types of schedules (contract §3, "Schedule"). */
import type { CalendarId } from '#domain/kernel/ids.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import { nextLocalTime } from './cron-search.ts';
import { parseCron } from './cron.ts';
import { zoneOf } from './zone.ts';

export const catchUps = ['none', 'last', 'all'] as const;
export type CatchUp = (typeof catchUps)[number];

export const overlaps = ['skip', 'queue', 'cancel_previous'] as const;
export type Overlap = (typeof overlaps)[number];

/** The possible outcomes of a due time. */
export const occurrenceOutcomes = [
  'fired',
  'late',
  'caught_up',
  'backfilled',
  'skipped',
  'missed',
] as const;
export type OccurrenceOutcome = (typeof occurrenceOutcomes)[number];

/** The outcomes of due times for which a run was started. */
export type FiredOutcome = Extract<
  OccurrenceOutcome,
  'fired' | 'late' | 'caught_up' | 'backfilled'
>;
export type PassedOutcome = Exclude<OccurrenceOutcome, FiredOutcome>;

type Timing =
  | { readonly kind: 'cron'; readonly cron: string; readonly intervalSeconds: null }
  | { readonly kind: 'interval'; readonly cron: null; readonly intervalSeconds: number }
  | {
      readonly kind: 'once';
      readonly cron: null;
      readonly intervalSeconds: null;
      /** The only due time (RFC 3339). */
      readonly onceAt: string;
    };

/** The definition of a schedule. All times are in RFC 3339. */
export type ScheduleDefinition = Timing & {
  /** Time zone name in the IANA database. */
  readonly timezone: string;
  readonly startAt: string | null;
  readonly endAt: string | null;
  readonly enabled: boolean;
  readonly catchUp: CatchUp;
  readonly maxLatenessSeconds: number;
  readonly overlap: Overlap;
  readonly paramsSha256: string | null;
  /** The calendar whose events exclude due times. Absent if there is no calendar. */
  readonly calendarId?: CalendarId;
  /** A name for users. Absent if the schedule has no name. */
  readonly name?: string;
};

/** Whether two definitions differ only in their names. */
export function isOnlyRenamed(one: ScheduleDefinition, other: ScheduleDefinition): boolean {
  const unnamed = ({ name: _, ...rest }: ScheduleDefinition) => canonicalJson(rest);
  return unnamed(one) === unnamed(other);
}

/** The invalid part of a definition, and a description of the problem. */
export interface DefinitionProblem {
  readonly part: 'cron' | 'timezone' | 'endAt';
  readonly detail: string;
}

/** Returns the problem with a definition, or `undefined` if the definition is valid. */
export function definitionProblem(definition: ScheduleDefinition): DefinitionProblem | undefined {
  const { timezone, startAt, endAt } = definition;
  const unknown = zoneProblem(timezone);
  if (unknown !== undefined) return unknown;
  if (startAt !== null && endAt !== null && Date.parse(endAt) < Date.parse(startAt)) {
    return { part: 'endAt', detail: 'The end date is before the start date.' };
  }
  return definition.kind === 'cron' ? cronProblem(definition.cron, timezone) : undefined;
}

/** Returns the problem with a cron expression in a time zone, or `undefined` if both are valid. */
export function cronProblem(expression: string, timezone: string): DefinitionProblem | undefined {
  const unknown = zoneProblem(timezone);
  if (unknown !== undefined) return unknown;
  const cron = parseCron(expression);
  if (typeof cron === 'string') return { part: 'cron', detail: cron };
  return nextLocalTime(cron, Date.UTC(2000, 0)) === undefined
    ? { part: 'cron', detail: 'The expression never matches a date.' }
    : undefined;
}

function zoneProblem(timezone: string): DefinitionProblem | undefined {
  if (zoneOf(timezone) !== undefined) return undefined;
  const detail = `Unknown time zone "${timezone}". Use an IANA name such as "Europe/Berlin".`;
  return { part: 'timezone', detail };
}
