/** Every aggregate, its commands and its events: the one list that a new aggregate joins. */
import type { Aggregate, World } from './kernel/aggregate.ts';
import type { Decision } from './kernel/decision.ts';
import type { RecordedEvent, StreamId } from './kernel/event.ts';
import { formatOf, snapshotsAlong, stateAfter, type History, type Snapshot } from './snapshots.ts';
import type { BackupCommand } from './backup/commands.ts';
import { backupAggregate } from './backup/decide.ts';
import type { BackupEvent } from './backup/events.ts';
import type { ChainCommand } from './chain/commands.ts';
import { chainAggregate } from './chain/decide.ts';
import type { ChainEvent } from './chain/events.ts';
import type { DisclosureCommand } from './disclosure/commands.ts';
import { disclosureAggregate } from './disclosure/decide.ts';
import type { DisclosureEvent } from './disclosure/events.ts';
import type { ChannelCommand } from './channel/commands.ts';
import { channelAggregate } from './channel/decide.ts';
import type { ChannelEvent } from './channel/events.ts';
import type { DeliveryCommand } from './delivery/commands.ts';
import { deliveryAggregate } from './delivery/decide.ts';
import type { DeliveryEvent } from './delivery/events.ts';
import type { GroupCommand } from './group/commands.ts';
import { groupAggregate } from './group/decide.ts';
import type { GroupEvent } from './group/events.ts';
import type { NoticeCommand } from './notice/commands.ts';
import { noticeAggregate } from './notice/decide.ts';
import type { NoticeEvent } from './notice/events.ts';
import type { RefusalCommand } from './refusal/commands.ts';
import { refusalAggregate } from './refusal/decide.ts';
import type { RefusalEvent } from './refusal/events.ts';
import type { RuleCommand } from './rule/commands.ts';
import { ruleAggregate } from './rule/decide.ts';
import type { RuleEvent } from './rule/events.ts';
import type { RunCommand } from './run/commands.ts';
import { runAggregate } from './run/decide.ts';
import type { RunEvent } from './run/events.ts';
import type { ScheduleCommand } from './schedule/commands.ts';
import { scheduleAggregate } from './schedule/decide.ts';
import type { ScheduleEvent } from './schedule/events.ts';
import type { ScriptCommand } from './script/commands.ts';
import { scriptAggregate } from './script/decide.ts';
import type { ScriptEvent } from './script/events.ts';
import type { SecretCommand } from './secret/commands.ts';
import { secretAggregate } from './secret/decide.ts';
import type { SecretEvent } from './secret/events.ts';
import type { SecretUseCommand } from './secret-use/commands.ts';
import { secretUseAggregate } from './secret-use/decide.ts';
import type { SecretUseEvent } from './secret-use/events.ts';
import type { SessionCommand } from './session/commands.ts';
import { sessionAggregate } from './session/decide.ts';
import type { SessionEvent } from './session/events.ts';
import type { SystemCommand } from './system/commands.ts';
import { systemAggregate } from './system/decide.ts';
import type { SystemEvent } from './system/events.ts';
import type { TokenCommand } from './token/commands.ts';
import { tokenAggregate } from './token/decide.ts';
import type { TokenEvent } from './token/events.ts';
import type { UpdateCommand } from './update/commands.ts';
import { updateAggregate } from './update/decide.ts';
import type { UpdateEvent } from './update/events.ts';
import type { UserCommand } from './user/commands.ts';
import { userAggregate } from './user/decide.ts';
import type { UserEvent } from './user/events.ts';
import type { WebhookCommand } from './webhook/commands.ts';
import { webhookAggregate } from './webhook/decide.ts';
import type { WebhookEvent } from './webhook/events.ts';

export type Command =
  | ScriptCommand
  | SecretCommand
  | SecretUseCommand
  | ScheduleCommand
  | NoticeCommand
  | ChannelCommand
  | RuleCommand
  | DeliveryCommand
  | RunCommand
  | UpdateCommand
  | UserCommand
  | SessionCommand
  | TokenCommand
  | WebhookCommand
  | ChainCommand
  | GroupCommand
  | SystemCommand
  | BackupCommand
  | RefusalCommand
  | DisclosureCommand;

export type PlatformEvent =
  | ScriptEvent
  | SecretEvent
  | SecretUseEvent
  | ScheduleEvent
  | NoticeEvent
  | ChannelEvent
  | RuleEvent
  | DeliveryEvent
  | RunEvent
  | UpdateEvent
  | UserEvent
  | SessionEvent
  | TokenEvent
  | WebhookEvent
  | ChainEvent
  | GroupEvent
  | SystemEvent
  | BackupEvent
  | RefusalEvent
  | DisclosureEvent;

export type EventType = PlatformEvent['type'];

/** A recorded event of a known type. */
export type Recorded<Event extends PlatformEvent = PlatformEvent> = Event extends PlatformEvent
  ? RecordedEvent<Event> & Event
  : never;

/** One command, bound to the aggregate that decides it. */
export interface Handling {
  readonly streamId: StreamId;
  readonly streamType: string;
  readonly guards: readonly StreamId[];
  /** Those of the guards that one command of a batch may have alone. */
  readonly takesTurns: readonly StreamId[];
  /** What snapshots of the stream must be of to be used. */
  readonly format: string;
  /** Folds the stream so far, gathers facts and decides. */
  readonly decide: (history: History, world: World) => Promise<Decision<PlatformEvent>>;
  /** The snapshots that are due on the way through the stream. */
  readonly snapshots: (history: History) => readonly Snapshot[];
}

/** Finds the aggregate of a command. */
export function handlingOf(command: Command): Handling {
  switch (command.type) {
    case 'CreateScript':
    case 'ChangeScript':
    case 'SaveFile':
    case 'DeleteFile':
    case 'MoveFile':
    case 'EnableScript':
    case 'DisableScript':
    case 'DeleteScript':
    case 'RestoreScript':
    case 'PurgeScript':
    case 'FinishPurge':
      return bind(scriptAggregate, command);
    case 'SetSecret':
    case 'DeleteSecret':
      return bind(secretAggregate, command);
    case 'CreateSchedule':
    case 'ChangeSchedule':
    case 'DeleteSchedule':
    case 'PassOccurrences':
      return bind(scheduleAggregate, command);
    case 'PostNotice':
      return bind(noticeAggregate, command);
    case 'CreateChannel':
    case 'ChangeChannel':
    case 'DeleteChannel':
      return bind(channelAggregate, command);
    case 'CreateRule':
    case 'ChangeRule':
    case 'DeleteRule':
      return bind(ruleAggregate, command);
    case 'QueueDelivery':
    case 'RecordAttempt':
      return bind(deliveryAggregate, command);
    case 'ReadSecrets':
      return bind(secretUseAggregate, command);
    case 'RunScript':
    case 'ReleaseRun':
    case 'StartRun':
    case 'StopRun':
    case 'FinishRun':
    case 'AbandonRun':
      return bind(runAggregate, command);
    case 'CreateUser':
    case 'ChangeUser':
    case 'ChangeUserPassword':
    case 'LeaveGroup':
      return bind(userAggregate, command);
    case 'OpenSession':
    case 'CloseSession':
      return bind(sessionAggregate, command);
    case 'IssueToken':
    case 'RevokeToken':
      return bind(tokenAggregate, command);
    case 'CreateWebhook':
    case 'ChangeWebhook':
    case 'RotateWebhook':
    case 'DeleteWebhook':
      return bind(webhookAggregate, command);
    case 'CreateChain':
    case 'ChangeChain':
    case 'DeleteChain':
    case 'SkipChain':
      return bind(chainAggregate, command);
    case 'CreateGroup':
    case 'ChangeGroup':
    case 'DeleteGroup':
      return bind(groupAggregate, command);
    case 'PauseTriggers':
    case 'ResumeTriggers':
    case 'ChangeRetention':
    case 'ChangeBackupSchedule':
    case 'NoteAlarms':
      return bind(systemAggregate, command);
    case 'StartBackup':
    case 'FinishBackup':
    case 'FailBackup':
    case 'FindBackup':
    case 'TakeInBackup':
    case 'LoseBackup':
    case 'CheckBackup':
    case 'RecordCheck':
    case 'DeleteBackup':
    case 'RequestRestore':
    case 'FailRestore':
      return bind(backupAggregate, command);
    case 'NoteRelease':
    case 'StartUpdate':
    case 'FinishUpdateStep':
    case 'SucceedUpdate':
    case 'FailUpdate':
    case 'RollUpdateBack':
    case 'DiscardRollback':
      return bind(updateAggregate, command);
    case 'RecordRefusal':
      return bind(refusalAggregate, command);
    case 'RecordDisclosure':
      return bind(disclosureAggregate, command);
  }
}

function bind<State, C extends { readonly type: string }, Event extends PlatformEvent, Facts>(
  aggregate: Aggregate<State, C, Event, Facts>,
  command: C,
): Handling {
  return {
    streamId: aggregate.streamOf(command),
    streamType: aggregate.streamType,
    guards: aggregate.guards(command),
    takesTurns: aggregate.takesTurns?.(command) ?? [],
    format: formatOf(aggregate),
    decide: async (history, world) => {
      const facts = await aggregate.gather(command, world);
      return aggregate.decide(stateAfter(aggregate, history), command, facts);
    },
    snapshots: (history) => snapshotsAlong(aggregate, history),
  };
}
