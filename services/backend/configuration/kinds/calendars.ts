/** Exception calendars in a configuration. */
import { calendarProblem } from '#domain/calendar/calendar.ts';
import { mustParse, parseCalendarId } from '#domain/kernel/ids.ts';
import { calendarsWithUse } from '#projections/calendars/queries.ts';
import { badField, problem, type Problem } from '../../http/problem.ts';
import type { Given, Kind, Wanted } from '../kind.ts';

export const calendarKind: Kind<'calendars'> = {
  kind: 'calendar',
  section: 'calendars',
  stream: 'calendar',
  present: async ({ services: { readModels } }) =>
    (await calendarsWithUse(readModels)).map(({ calendar_id: id, name, inUse, ...row }) => {
      const calendarId = mustParse(parseCalendarId, id);
      const covered = row.covered_until.toISOString();
      return {
        item: { id, name, periods: row.periods, covered_until: covered },
        hidden: false,
        ...(inUse && {
          kept:
            'The calendar is still in use, possibly by schedules of deleted scripts. Remove the calendar from those ' +
            'schedules first.',
        }),
        change: (given) => Promise.resolve(wantedOf('ChangeCalendar', given)),
        remove: () => ({ type: 'DeleteCalendar', calendarId }),
      };
    }),
  make: (given) => Promise.resolve(wantedOf('CreateCalendar', given)),
};

function wantedOf(
  type: 'CreateCalendar' | 'ChangeCalendar',
  { id, name, periods, covered_until }: Given<'calendars'>,
): Wanted | Problem {
  const coveredMs = Date.parse(covered_until);
  if (Number.isNaN(coveredMs)) return badField('covered_until', 'is not a valid time');
  const coveredUntil = new Date(coveredMs).toISOString();
  const content = { periods, coveredUntil };
  const wrong = calendarProblem(name, content);
  if (wrong !== undefined) return problem('validation_failed', wrong);
  const calendarId = mustParse(parseCalendarId, id);
  return {
    item: { id, name, periods, covered_until: coveredUntil },
    commands: () => Promise.resolve([{ type, calendarId, name, content }]),
  };
}
