import { given } from '#domain/testing/given.ts';
import { describe, test } from 'vitest';
import { systemAggregate } from './decide.ts';

const noRoom = { name: 'disk_low', detail: 'There is no room.' } as const;
const raised = { type: 'AlarmRaised', data: noRoom } as const;
const cleared = { type: 'AlarmCleared', data: { name: 'disk_low' } } as const;
const late = { name: 'projection_lag', detail: 'It is late.' } as const;

describe('a platform without alarms', () => {
  test('records a raised alarm, and nothing if no alarm is raised', () => {
    given(systemAggregate)
      .when({ type: 'NoteAlarms', alarms: [noRoom] })
      .thenRecords(raised);
    given(systemAggregate).when({ type: 'NoteAlarms', alarms: [] }).thenRecordsNothing();
  });
});

describe('a raised alarm', () => {
  test('is not recorded again, even with another message', () => {
    const alarms = [{ ...noRoom, detail: 'There is less room.' }];
    given(systemAggregate, raised).when({ type: 'NoteAlarms', alarms }).thenRecordsNothing();
  });

  test('is cleared when only another alarm is raised', () => {
    given(systemAggregate, raised)
      .when({ type: 'NoteAlarms', alarms: [late] })
      .thenRecords(cleared, { type: 'AlarmRaised', data: late });
  });

  test('can be raised again after it was cleared', () => {
    given(systemAggregate, raised, cleared)
      .when({ type: 'NoteAlarms', alarms: [noRoom] })
      .thenRecords(raised);
  });
});
