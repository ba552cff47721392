import type { Recorded } from '#domain/aggregates.ts';
import type { BusMessage } from '#domain/ports/bus.ts';

/** What other processes are told about events that were recorded. */
export function announcements(events: readonly Recorded[]): readonly BusMessage[] {
  const messages: BusMessage[] = [{ topic: 'events' }];
  for (const event of events) {
    switch (event.type) {
      case 'RunQueued':
        messages.push({ topic: 'queue' }, { topic: 'status', runId: event.data.runId });
        break;
      case 'RunReleased':
        messages.push({ topic: 'queue' }, { topic: 'status', runId: event.data.runId });
        break;
      case 'RunStopRequested':
        messages.push({ topic: 'stop', runId: event.data.runId });
        break;
      case 'RunFinished':
        // Whoever prepares a run that was still waiting has to give it up.
        if (event.data.outcome === 'stopped') {
          messages.push({ topic: 'stop', runId: event.data.runId });
        }
        messages.push({ topic: 'status', runId: event.data.runId });
        break;
      case 'RunStarted':
        messages.push({ topic: 'status', runId: event.data.runId });
        break;
      case 'ScriptCreated':
      case 'ScriptChanged':
      case 'FileSaved':
      case 'FileDeleted':
      case 'FileMoved':
      case 'ScriptEnabled':
      case 'ScriptDisabled':
      case 'ScriptDeleted':
      case 'ScriptRestored':
      case 'ScriptPurged':
      case 'ScriptPurgeFinished':
      case 'SecretSet':
      case 'SecretDeleted':
      case 'SecretsRead':
      case 'ScheduleCreated':
      case 'ScheduleChanged':
      case 'ScheduleDeleted':
      case 'OccurrencesPassed':
      case 'NoticePosted':
      case 'UserCreated':
      case 'SessionOpened':
      case 'SessionRefreshed':
      case 'SessionClosed':
      case 'TokenIssued':
      case 'TokenRevoked':
      case 'WebhookCreated':
      case 'WebhookChanged':
      case 'WebhookRotated':
      case 'WebhookDeleted':
      case 'GroupCreated':
      case 'TriggersPaused':
      case 'TriggersResumed':
      case 'RetentionChanged':
      case 'RequestRefused':
        break;
    }
  }
  return messages;
}
