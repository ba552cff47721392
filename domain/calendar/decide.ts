import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import { calendarProblem } from './calendar.ts';
import type { CalendarCommand } from './commands.ts';
import type { CalendarEvent } from './events.ts';
import { evolveCalendar, initialCalendar, type CalendarState } from './state.ts';

export interface CalendarFacts {
  /** Whether any schedule uses the calendar. Schedules of deleted scripts count. */
  readonly inUse: boolean;
}

export function decideCalendar(
  state: CalendarState,
  command: CalendarCommand,
  { inUse }: CalendarFacts,
): Decision<CalendarEvent> {
  const { calendarId } = command;
  switch (command.type) {
    case 'CreateCalendar': {
      if (state.status !== 'absent') return accept();
      const { name, content } = command;
      const problem = calendarProblem(name, content);
      return problem === undefined
        ? accept({ type: 'CalendarCreated', data: { calendarId, name, content } })
        : refuse('validation_failed', problem);
    }
    case 'ChangeCalendar': {
      if (state.status !== 'present') return refuse('not_found', 'Calendar not found.');
      const { name = state.name, content = state.content } = command;
      const problem = calendarProblem(name, content);
      if (problem !== undefined) return refuse('validation_failed', problem);
      const isSame = name === state.name && canonicalJson(content) === canonicalJson(state.content);
      return isSame
        ? accept()
        : accept({ type: 'CalendarChanged', data: { calendarId, name, content } });
    }
    case 'DeleteCalendar':
      if (state.status === 'deleted') return accept();
      if (state.status === 'absent') return refuse('not_found', 'Calendar not found.');
      return inUse
        ? refuse(
            'calendar_in_use',
            'Schedules still use this calendar, possibly schedules of deleted scripts. Remove the calendar from ' +
              'these schedules first.',
          )
        : accept({ type: 'CalendarDeleted', data: { calendarId } });
  }
}

export const calendarAggregate: Aggregate<
  CalendarState,
  CalendarCommand,
  CalendarEvent,
  CalendarFacts
> = {
  streamType: 'calendar',
  commands: { CreateCalendar: true, ChangeCalendar: true, DeleteCalendar: true },
  events: { CalendarCreated: true, CalendarChanged: true, CalendarDeleted: true },
  initial: initialCalendar,
  evolve: evolveCalendar,
  stateVersion: 1,
  decide: decideCalendar,
  streamOf: (command) => `calendar-${command.calendarId}`,
  guards: () => [],
  readFacts: async (command, reads) => ({
    inUse: command.type === 'DeleteCalendar' && (await reads.calendarInUse(command.calendarId)),
  }),
};
