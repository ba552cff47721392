import { given } from '#domain/testing/given.ts';
import { describe, test } from 'vitest';
import { systemAggregate } from './decide.ts';

const noRoom = { name: 'disk_low', detail: 'There is no room.' } as const;
const raised = { type: 'AlarmRaised', data: noRoom } as const;
const cleared = { type: 'AlarmCleared', data: { name: 'disk_low' } } as const;
const late = { name: 'projection_lag', detail: 'It is late.' } as const;

describe('given that all is well', () => {
  test('when something is not, then that is recorded, and nothing where nothing is', () => {
    given(systemAggregate)
      .when({ type: 'NoteAlarms', alarms: [noRoom] })
      .thenRecords(raised);
    given(systemAggregate).when({ type: 'NoteAlarms', alarms: [] }).thenRecordsNothing();
  });
});

describe('given an alarm', () => {
  test('when it goes on, in whatever words, then nothing is recorded', () => {
    const alarms = [{ ...noRoom, detail: 'There is less room.' }];
    given(systemAggregate, raised).when({ type: 'NoteAlarms', alarms }).thenRecordsNothing();
  });

  test('when another takes its place, then both are told', () => {
    given(systemAggregate, raised)
      .when({ type: 'NoteAlarms', alarms: [late] })
      .thenRecords(cleared, { type: 'AlarmRaised', data: late });
  });

  test('when it is over, and comes again, then it is raised again', () => {
    given(systemAggregate, raised, cleared)
      .when({ type: 'NoteAlarms', alarms: [noRoom] })
      .thenRecords(raised);
  });
});
