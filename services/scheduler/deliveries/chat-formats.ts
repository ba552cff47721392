/** Formats notifications for services with structured messages: Slack (Block Kit), Microsoft Teams (Adaptive Cards) and
 *  PagerDuty (Events API v2). */
import { createHash } from 'node:crypto';
import type { NotificationContent } from '#domain/delivery/delivery.ts';

/** A notification in parts, as plain text. */
export interface StructuredMessage {
  readonly title: string;
  readonly told: NotificationContent;
  /** The line of the script that raised the error. */
  readonly place: string | undefined;
  /** The dashboard URL of the run, or `null` if no dashboard URL is configured or the notification is not about a
   *  run. */
  readonly url: string | null;
}

/** The maximum lengths that the services accept, in characters. */
const slackHeader = 150;
const slackSection = 3000;
const teamsText = 10_000;
const pagerDutySummary = 1024;

/** Escapes text from a script, so that it cannot contain mentions or links. */
function slackText(text: string, most: number): string {
  const escaped = (part: string) =>
    part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  // Truncates before escaping, so that no escape sequence is cut. An escaped character has at most five characters.
  const whole = escaped(text);
  return whole.length <= most ? whole : escaped(text.slice(0, Math.floor(most / 5)));
}

/** @param text a plain-text version for push notifications and for clients without support for blocks */
export function slackBody({ title, told, place, url }: StructuredMessage, text: string): string {
  const { message, script, at } = told;
  const facts = [
    ...(script === null ? [] : [`Script: ${script.name}`]),
    ...(place === undefined ? [] : [`Location: ${place}`]),
    `Time: ${at}`,
  ];
  const section = message.trim() === '' ? title : message;
  return JSON.stringify({
    text: slackText(text, slackSection),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title.slice(0, slackHeader) } },
      { type: 'section', text: { type: 'mrkdwn', text: slackText(section, slackSection) } },
      {
        type: 'context',
        elements: [{ type: 'mrkdwn', text: slackText(facts.join('  ·  '), slackSection) }],
      },
      ...(url === null
        ? []
        : [
            {
              type: 'actions',
              elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open run' }, url }],
            },
          ]),
    ],
  });
}

const teamsColors = { info: 'good', warning: 'warning', error: 'attention' } as const;

/** Returns a message with an Adaptive Card, for webhooks of Teams workflows. */
export function teamsBody({ title, told, place, url }: StructuredMessage): string {
  const { level, message, script, runId, at } = told;
  const facts = [
    ...(script === null ? [] : [{ title: 'Script', value: plainMarkdown(script.name) }]),
    ...(runId === null ? [] : [{ title: 'Run', value: runId }]),
    ...(place === undefined ? [] : [{ title: 'Location', value: plainMarkdown(place) }]),
    { title: 'Time', value: at },
  ];
  const text = { type: 'TextBlock', wrap: true } as const;
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      {
        ...text,
        text: plainMarkdown(title),
        weight: 'bolder',
        size: 'medium',
        color: teamsColors[level],
      },
      { ...text, text: plainMarkdown(message.slice(0, teamsText)) },
      { type: 'FactSet', facts },
    ],
    ...(url !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Open run', url }] }),
  };
  const card = {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content,
  };
  return JSON.stringify({ type: 'message', attachments: [card] });
}

/** Escapes text from a script, so that it cannot contain links or lists. Cards render Markdown. */
function plainMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]()#<>]/g, '\\$&');
}

/** Returns an event for PagerDuty. The notification that a condition has ended resolves the incident that its start
 *  triggered. */
export function pagerDutyBody({ title, told, url }: StructuredMessage, routingKey: string): string {
  const { on, level, message, script, runId, at, about, clears } = told;
  return JSON.stringify({
    routing_key: routingKey,
    event_action: clears ? 'resolve' : 'trigger',
    ...(about !== undefined && { dedup_key: dedupKey(about) }),
    payload: {
      summary: `${title}: ${message}`.slice(0, pagerDutySummary),
      source: script?.name ?? 'orchestrator',
      severity: level,
      timestamp: at,
      class: on,
      ...(script !== null && { component: script.name, group: script.groupId }),
      custom_details: { message, script_id: script?.scriptId ?? null, run_id: runId },
    },
    ...(url !== null && { links: [{ href: url, text: 'Open run' }] }),
  });
}

/** Uses a hash, because PagerDuty permits at most 255 characters. */
function dedupKey(about: string): string {
  return `orchestrator-${createHash('sha256').update(about).digest('hex')}`;
}
