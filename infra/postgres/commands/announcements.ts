import type { Recorded } from '#domain/aggregates.ts';
import type { BusMessage } from '#domain/ports/bus.ts';
import { statusOf } from '#domain/run/run.ts';

/** What other processes are told about events that were recorded. */
export function announcements(events: readonly Recorded[]): readonly BusMessage[] {
  const types = [...new Set(events.map(({ type }) => type))];
  const messages: BusMessage[] = [{ topic: 'events', types }];
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
        messages.push({ topic: 'status', runId: event.data.runId }, completed(event));
        break;
      case 'RunStarted':
        messages.push({ topic: 'status', runId: event.data.runId });
        break;
      case 'ScriptCreated':
        messages.push(updated(event, 1));
        break;
      case 'ScriptChanged':
      case 'FileSaved':
      case 'FileDeleted':
      case 'FileMoved':
        messages.push(updated(event, event.data.version));
        break;
      case 'ScheduleCreated':
      case 'ScheduleChanged':
      case 'ScheduleDeleted':
        messages.push({
          topic: 'reload',
          scriptId: event.data.scriptId,
          scheduleId: event.data.scheduleId,
          position: event.position.globalPosition,
        });
        break;
      case 'ScriptEnabled':
      case 'ScriptDisabled':
      case 'ScriptDeleted':
      case 'ScriptRestored':
      case 'ScriptPurged':
      case 'ScriptPurgeFinished':
      case 'SecretSet':
      case 'SecretDeleted':
      case 'SecretsRead':
      case 'OccurrencesPassed':
      case 'NoticePosted':
      case 'ChannelCreated':
      case 'ChannelChanged':
      case 'ChannelDeleted':
      case 'RuleCreated':
      case 'RuleChanged':
      case 'RuleDeleted':
      case 'DeliveryQueued':
      case 'DeliverySent':
      case 'DeliveryDelayed':
      case 'DeliveryFailed':
      case 'UserCreated':
      case 'UserChanged':
      case 'UserPasswordChanged':
      case 'SessionOpened':
      case 'SessionRefreshed':
      case 'SessionClosed':
      case 'TokenIssued':
      case 'TokenRevoked':
      case 'WebhookCreated':
      case 'WebhookChanged':
      case 'WebhookRotated':
      case 'WebhookSigningSet':
      case 'WebhookSigningEnded':
      case 'WebhookDeleted':
      case 'ChainCreated':
      case 'ChainChanged':
      case 'ChainDeleted':
      case 'ChainSkipped':
      case 'GroupCreated':
      case 'GroupChanged':
      case 'GroupDeleted':
      case 'TriggersPaused':
      case 'TriggersResumed':
      case 'RetentionChanged':
      case 'BackupScheduleChanged':
      case 'AlarmRaised':
      case 'AlarmCleared':
      case 'BackupStarted':
      case 'BackupFinished':
      case 'BackupFailed':
      case 'BackupFound':
      case 'BackupLost':
      case 'BackupCheckRequested':
      case 'BackupChecked':
      case 'BackupDeleted':
      case 'RestoreRequested':
      case 'RestoreFailed':
      case 'BackupRestored':
      case 'ReleaseFound':
      case 'UpdateStarted':
      case 'UpdateStepFinished':
      case 'UpdateSucceeded':
      case 'UpdateFailed':
      case 'UpdateRolledBack':
      case 'RollbackDiscarded':
      case 'RequestRefused':
      case 'DataDisclosed':
        break;
    }
  }
  return messages;
}

type Of<Type extends Recorded['type']> = Extract<Recorded, { type: Type }>;
type Save = Of<'ScriptCreated' | 'ScriptChanged' | 'FileSaved' | 'FileDeleted' | 'FileMoved'>;

function updated({ data, position, recordedAt }: Save, version: number): BusMessage {
  return {
    topic: 'script-updated',
    scriptId: data.scriptId,
    version,
    position: position.globalPosition,
    time: recordedAt.toISOString(),
  };
}

function completed({ data, position }: Of<'RunFinished'>): BusMessage {
  return {
    topic: 'script-completed',
    scriptId: data.scriptId,
    runId: data.runId,
    status: statusOf(data.outcome),
    exitCode: data.exitCode,
    position: position.globalPosition,
  };
}
