import type { EventType, Recorded } from '#domain/aggregates.ts';
import type { BusMessage } from '#domain/ports/bus.ts';
import { statusOf } from '#domain/run/run.ts';

type Of<Type extends EventType> = Extract<Recorded, { type: Type }>;

/** Additional messages to send for each event type. */
const messagesOf: { readonly [Type in EventType]?: (event: Of<Type>) => readonly BusMessage[] } = {
  RunQueued: ({ data }) => [{ topic: 'queue' }, statusChanged(data)],
  RunApprovalRequested: ({ data }) => [statusChanged(data)],
  RunApproved: ({ data }) => [statusChanged(data)],
  RunReleased: ({ data }) => [{ topic: 'queue' }, statusChanged(data)],
  RunStarted: ({ data }) => [statusChanged(data)],
  RunStopRequested: ({ data }) => [stopRequested(data)],
  RunFinished: (event) => [
    // A runtime that is still preparing the run must abandon it.
    ...(event.data.outcome === 'stopped' ? [stopRequested(event.data)] : []),
    statusChanged(event.data),
    completed(event),
  ],
  // Wakes the runtime, so that it claims runs immediately.
  RuntimeResumed: () => [{ topic: 'queue' }],
  ScriptCreated: (event) => [updated(event, 1)],
  ScriptChanged: (event) => [updated(event, event.data.version)],
  FileSaved: (event) => [updated(event, event.data.version)],
  FileDeleted: (event) => [updated(event, event.data.version)],
  FileMoved: (event) => [updated(event, event.data.version)],
  FilesRestored: (event) => [updated(event, event.data.version)],
  ScheduleCreated: reloaded,
  ScheduleChanged: reloaded,
  ScheduleDeleted: reloaded,
};

/** Returns the messages that notify other processes of recorded events. */
export function announcements(events: readonly Recorded[]): readonly BusMessage[] {
  const types = [...new Set(events.map(({ type }) => type))];
  const messages = events.flatMap((event) => {
    const told = messagesOf[event.type] as ((one: Recorded) => readonly BusMessage[]) | undefined;
    return told?.(event) ?? [];
  });
  // The wake-up of the readers comes last, because clients wait for the other messages.
  return [...messages, { topic: 'events', types }];
}

type Run = { readonly runId: Of<'RunQueued'>['data']['runId'] };

function statusChanged({ runId }: Run): BusMessage {
  return { topic: 'status', runId };
}

function stopRequested({ runId }: Run): BusMessage {
  return { topic: 'stop', runId };
}

type ScheduleEvent = Of<'ScheduleCreated' | 'ScheduleChanged' | 'ScheduleDeleted'>;

function reloaded({ data, position }: ScheduleEvent): readonly BusMessage[] {
  const { scriptId, scheduleId } = data;
  return [{ topic: 'reload', scriptId, scheduleId, position: position.globalPosition }];
}

type Save = Of<
  'ScriptCreated' | 'ScriptChanged' | 'FileSaved' | 'FileDeleted' | 'FileMoved' | 'FilesRestored'
>;

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
    ...(data.error && { errorType: data.error.type }),
    position: position.globalPosition,
  };
}
