/** The identifiers of the domain. Each is UUID text, parsed once at the boundary that received it. */
import type { Brand } from './brand.ts';

export type ScriptId = Brand<string, 'ScriptId'>;
export type RunId = Brand<string, 'RunId'>;
export type UserId = Brand<string, 'UserId'>;
export type GroupId = Brand<string, 'GroupId'>;
export type SessionId = Brand<string, 'SessionId'>;
export type RefusalId = Brand<string, 'RefusalId'>;
/** A client's or a reaction's name for one command: the same id is carried out once. */
export type CommandId = Brand<string, 'CommandId'>;
export type EventId = Brand<string, 'EventId'>;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function parseId<Id extends string>(text: string): Id | undefined {
  const lower = text.toLowerCase();
  return uuid.test(lower) ? (lower as Id) : undefined;
}

/** Each parser answers `undefined` for text that is no UUID. */
export const parseScriptId = (text: string) => parseId<ScriptId>(text);
export const parseRunId = (text: string) => parseId<RunId>(text);
export const parseUserId = (text: string) => parseId<UserId>(text);
export const parseGroupId = (text: string) => parseId<GroupId>(text);
export const parseSessionId = (text: string) => parseId<SessionId>(text);
export const parseRefusalId = (text: string) => parseId<RefusalId>(text);
export const parseCommandId = (text: string) => parseId<CommandId>(text);
export const parseEventId = (text: string) => parseId<EventId>(text);

/** `parse` for ids that this process made or stored itself: anything else is a bug. */
export function known<Id>(parse: (text: string) => Id | undefined, text: string): Id {
  const id = parse(text);
  if (id === undefined) throw new Error(`not an id: ${text}`);
  return id;
}
