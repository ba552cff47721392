/** Formats notifications for each kind of channel. */
import type { ChatService } from '#domain/channel/channel.ts';
import type { NotificationContent } from '#domain/delivery/delivery.ts';
import type { RunError } from '#domain/run/error/error.ts';

import { slackBody, teamsBody, type StructuredMessage } from './chat-formats.ts';

/** Discord's maximum message length, the lowest of all chat services. */
const maxChatCharacters = 2000;

/** A notification together with the stored error of its run. */
export interface MessageContent extends NotificationContent {
  readonly error: RunError | null;
  readonly errorGroupId: string | null;
}

const words: Readonly<Record<NotificationContent['on'], string>> = {
  failed: 'failed',
  failed_n_times: 'failed repeatedly',
  recovered: 'recovered',
  success: 'succeeded',
  stopped: 'was stopped',
  missed: 'missed a scheduled run',
  message: 'message',
  alarm: 'Alarm',
  alarm_cleared: 'Alarm cleared',
  error_first_seen: 'new error',
  error_tenth_seen: 'error occurred 10 times',
  error_reopened: 'resolved error occurred again',
  run_late: 'run is late',
  script_stale: 'no recent success',
  run_too_long: 'run takes too long',
  secret_rotation_due: 'secret rotation',
  approval_requested: 'approval requested',
  repository_sync_failed: 'Repository sync',
  test: 'Test notification',
};

/** Returns the subject line. */
export function titleOf({ on, script }: NotificationContent): string {
  return script === null
    ? words[on].charAt(0).toUpperCase() + words[on].slice(1)
    : `${script.name.replaceAll(/\s+/g, ' ')}: ${words[on]}`;
}

/** @param maxCharacters the maximum length; only the message is truncated, not the facts and the link that follow it */
export function textOf(
  told: MessageContent,
  publicUrl: string | undefined,
  maxCharacters?: number,
): string {
  const { message, script, runId, at, error } = told;
  const place = placeOf(error);
  const url = pageUrl(told, publicUrl);
  const facts = [
    script && `Script: ${script.name} (${script.scriptId})`,
    runId && `Run: ${runId}`,
    place && `Location: ${place}`,
    `Time: ${at}`,
    url,
  ];
  const shown = ['', ...facts.filter((fact) => fact !== null && fact !== undefined)].join('\n');
  const room = maxCharacters && Math.max(0, maxCharacters - shown.length - 1);
  return `${message.slice(0, room)}\n${shown}`;
}

/** Returns the line of the script that raised the error. */
function placeOf(error: MessageContent['error']): string | undefined {
  const place = error?.frames.findLast(({ own }) => own);
  return place && `${place.file}:${place.line} in ${place.function}`;
}

/** Returns the dashboard URL of the run or approval. The URL itself grants no access, because the page requires a
 *  sign-in. */
function pageUrl(
  { runId, changeId, on }: NotificationContent,
  publicUrl: string | undefined,
): string | null {
  const id = changeId ?? runId;
  if (id === null || publicUrl === undefined) return null;
  const page = on === 'approval_requested' ? 'approvals' : 'runs';
  return `${publicUrl}/${page}/${id}`;
}

/** Returns the request body for a chat service. */
export function chatBody(
  service: ChatService,
  told: MessageContent,
  publicUrl: string | undefined,
): string {
  const text = chatText(told, publicUrl);
  switch (service) {
    case 'slack':
      return slackBody(structuredMessage(told, publicUrl), text);
    case 'teams':
      return teamsBody(structuredMessage(told, publicUrl));
    case 'mattermost':
      return JSON.stringify({ text: text.replaceAll('@', '@\u200b') });
    case 'discord':
      return JSON.stringify({ content: text, allowed_mentions: { parse: [] } });
  }
}

/** Converts a notification to a structured message. */
export function structuredMessage(
  told: MessageContent,
  publicUrl: string | undefined,
): StructuredMessage {
  const place = placeOf(told.error);
  return { title: titleOf(told), told, place, url: pageUrl(told, publicUrl) };
}

function chatText(told: MessageContent, publicUrl: string | undefined): string {
  const title = titleOf(told);
  const text = `${title}\n${textOf(told, publicUrl, maxChatCharacters - title.length - 1)}`;
  return text.slice(0, maxChatCharacters);
}

export function telegramBody(
  chatId: string,
  told: MessageContent,
  publicUrl: string | undefined,
): string {
  const text = chatText(told, publicUrl);
  return JSON.stringify({ chat_id: chatId, text, link_preview_options: { is_disabled: true } });
}

/** Returns the body of a webhook (Standard Webhooks). */
export function webhookBody(told: MessageContent, publicUrl: string | undefined): string {
  const { on, level, message, at, script, groupId, runId, error, errorGroupId } = told;
  return JSON.stringify({
    type: `notification.${on}`,
    timestamp: at,
    data: {
      on,
      level,
      message,
      script_id: script?.scriptId ?? null,
      script_name: script?.name ?? null,
      group_id: script?.groupId ?? groupId ?? null,
      run_id: runId,
      run_url: pageUrl(told, publicUrl),
      error,
      error_group_id: errorGroupId,
    },
  });
}
