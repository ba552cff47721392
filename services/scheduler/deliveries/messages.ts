/** What receivers are sent. */
import type { ChatService } from '#domain/channel/channel.ts';
import type { Told } from '#domain/delivery/delivery.ts';

/** Discord takes no more; the others do. */
const maxChatCharacters = 2000;

const words: Readonly<Record<Told['on'], string>> = {
  failed: 'failed',
  failed_n_times: 'failed again and again',
  recovered: 'has recovered',
  success: 'succeeded',
  stopped: 'was stopped',
  missed: 'missed due times',
  message: 'says',
  alarm: 'Alarm',
  alarm_cleared: 'An alarm is over',
  test: 'This is a test',
};

/** One line. */
export function titleOf({ on, script }: Told): string {
  return script === null ? words[on] : `${script.name.replaceAll(/\s+/g, ' ')}: ${words[on]}`;
}

export function textOf(told: Told): string {
  const { message, script, runId, at } = told;
  const facts = [
    script && `Script: ${script.name} (${script.scriptId})`,
    runId && `Run: ${runId}`,
    `Time: ${at}`,
  ];
  return [message, '', ...facts.filter((fact) => fact !== null)].join('\n');
}

/** The JSON that a chat takes. */
export function chatBody(service: ChatService, told: Told): string {
  const text = `${titleOf(told)}\n${textOf(told)}`.slice(0, maxChatCharacters);
  switch (service) {
    case 'slack':
      // A script's text names nobody and links nothing by itself.
      return JSON.stringify({ text: escaped(text) });
    case 'mattermost':
      return JSON.stringify({ text: text.replaceAll('@', '@\u200b') });
    case 'discord':
      return JSON.stringify({ content: text, allowed_mentions: { parse: [] } });
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function telegramBody(chatId: string, told: Told): string {
  const text = `${titleOf(told)}\n${textOf(told)}`.slice(0, maxChatCharacters);
  return JSON.stringify({ chat_id: chatId, text, link_preview_options: { is_disabled: true } });
}

/** The JSON that a webhook gets (Standard Webhooks). */
export function webhookBody({ on, level, message, at, script, runId }: Told): string {
  return JSON.stringify({
    type: `notification.${on}`,
    timestamp: at,
    data: {
      on,
      level,
      message,
      script_id: script?.scriptId ?? null,
      script_name: script?.name ?? null,
      group_id: script?.groupId ?? null,
      run_id: runId,
    },
  });
}
