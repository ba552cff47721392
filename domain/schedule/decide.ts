import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import type { ChangeSchedule, CreateSchedule, ScheduleCommand } from './commands.ts';
import type { ScheduleEvent } from './events.ts';
import { definitionProblem } from './schedule.ts';
import { evolveSchedule, initialSchedule, type ScheduleState } from './state.ts';

export interface ScheduleDecisionFacts {
  /** Whether the script exists and is not deleted. Also true if the command accepts a deleted script or requires no
   *  script. */
  readonly scriptExists: boolean;
  /** Whether the calendar in the definition exists. True if the definition has no calendar. */
  readonly calendarExists: boolean;
  /** All due times up to and including this time are settled. */
  readonly servedUntil: string;
}

const gone = refuse('not_found', 'Schedule not found.');

export function decideSchedule(
  state: ScheduleState,
  command: ScheduleCommand,
  { scriptExists, calendarExists, servedUntil }: ScheduleDecisionFacts,
): Decision<ScheduleEvent> {
  if (!scriptExists) return refuse('not_found', 'Script not found.');
  if (!calendarExists) return refuse('validation_failed', 'Calendar not found.');
  switch (command.type) {
    case 'CreateSchedule':
      return state.status === 'absent' ? create(command) : accept();
    case 'ChangeSchedule':
      return change(state, command);
    case 'DeleteSchedule': {
      if (state.status !== 'present') return gone;
      const { scheduleId, scriptId, expectedVersion } = command;
      return isOutdated(state.version, expectedVersion)
        ? outdated
        : accept({ type: 'ScheduleDeleted', data: { scheduleId, scriptId } });
    }
    case 'PassOccurrences': {
      if (state.status === 'absent') return gone;
      const occurrences = command.occurrences.filter(({ dueAt }) => dueAt > servedUntil);
      const { scheduleId, scriptId } = command;
      return occurrences.length === 0
        ? accept()
        : accept({ type: 'OccurrencesPassed', data: { scheduleId, scriptId, occurrences } });
    }
  }
}

function create({ scheduleId, scriptId, definition }: CreateSchedule): Decision<ScheduleEvent> {
  const problem = definitionProblem(definition);
  return problem === undefined
    ? accept({ type: 'ScheduleCreated', data: { scheduleId, scriptId, definition } })
    : refuse('validation_failed', problem.detail);
}

function change(state: ScheduleState, command: ChangeSchedule): Decision<ScheduleEvent> {
  if (state.status !== 'present') return gone;
  const { scheduleId, scriptId, definition, expectedVersion } = command;
  if (isOutdated(state.version, expectedVersion)) return outdated;
  const problem = definitionProblem(definition);
  if (problem !== undefined) return refuse('validation_failed', problem.detail);
  if (canonicalJson(definition) === state.definition) return accept();
  return accept({ type: 'ScheduleChanged', data: { scheduleId, scriptId, definition } });
}

const outdated = refuse(
  'version_mismatch',
  'The schedule has changed since you read it. Reload it and try again.',
);

function isOutdated(version: number, expected: number | undefined): boolean {
  return expected !== undefined && expected !== version;
}

/** Locks the calendar in the definition, so that the calendar cannot be deleted at the same time. */
function calendarOf({ definition: { calendarId } }: CreateSchedule | ChangeSchedule): StreamId[] {
  return calendarId === undefined ? [] : [`calendar-${calendarId}`];
}

export const scheduleAggregate: Aggregate<
  ScheduleState,
  ScheduleCommand,
  ScheduleEvent,
  ScheduleDecisionFacts
> = {
  streamType: 'schedule',
  commands: {
    CreateSchedule: true,
    ChangeSchedule: true,
    DeleteSchedule: true,
    PassOccurrences: true,
  },
  events: {
    ScheduleCreated: true,
    ScheduleChanged: true,
    ScheduleDeleted: true,
    OccurrencesPassed: true,
  },
  initial: initialSchedule,
  evolve: evolveSchedule,
  stateVersion: 1,
  decide: decideSchedule,
  streamOf: (command) => `schedule-${command.scheduleId}`,
  guards: (command) =>
    command.type === 'CreateSchedule' || command.type === 'ChangeSchedule'
      ? [`script-${command.scriptId}`, ...calendarOf(command)]
      : [],
  readFacts: async (command, reads) => {
    switch (command.type) {
      case 'CreateSchedule':
      case 'ChangeSchedule': {
        const script = await reads.script(command.scriptId);
        const { calendarId } = command.definition;
        return {
          scriptExists: script !== undefined && (!script.deleted || command.mayBeDeleted === true),
          calendarExists: calendarId === undefined || (await reads.calendarExists(calendarId)),
          servedUntil: '',
        };
      }
      case 'DeleteSchedule':
        return { scriptExists: true, calendarExists: true, servedUntil: '' };
      case 'PassOccurrences': {
        const schedule = await reads.schedule(command.scheduleId);
        const servedUntil = schedule?.servedUntil ?? '';
        return { scriptExists: true, calendarExists: true, servedUntil };
      }
    }
  },
};
