import type { Recorded } from '#domain/aggregates.ts';
import type { QueueDelivery } from '#domain/delivery/commands.ts';
import type { NotificationContent } from '#domain/delivery/delivery.ts';
import { mustParse, parseDeliveryId, type GroupId } from '#domain/kernel/ids.ts';
import { missedKey } from '#domain/expectation/expectation.ts';
import { expectationNews } from '#domain/expectation/news.ts';
import { describeOutcome, type NotifiableEvent } from '#domain/notification/notification.ts';
import { repositoryNews } from '#domain/repository/news.ts';
import type { RotationEvent } from '#domain/rotation/events.ts';
import { rotationNews } from '#domain/rotation/news.ts';
import { alarmMessage } from '#domain/system/alarm-message.ts';
import type { RunFinished } from '#domain/run/events.ts';
import {
  approvalEvents,
  approvalNews,
  approvalSubject,
  isApprovalEvent,
  type ApprovalEvent,
} from './approval-news.ts';
import type { ListeningRule, NewId, Reaction, ReactionReads } from './reaction.ts';

/** Creates the deliveries for notification rules (contract §3, "Notification"). Each event causes one delivery per
 *  rule and channel, even if the event is handled repeatedly. A rule does not apply to events that happened before
 *  the rule was created. */
export const whenSomethingHappenedDeliver: Reaction = {
  name: 'when-something-happened-deliver',
  handles: [
    'RunFinished',
    'OccurrencesPassed',
    'NoticePosted',
    'AlarmRaised',
    'AlarmCleared',
    'ErrorGroupReopened',
    'ExpectationMissed',
    'ExpectationCleared',
    'SecretRotationDue',
    'SecretRotationCleared',
    'RepositoryFailureStarted',
    'RepositoryFailureEnded',
    ...approvalEvents,
  ],
  react: async (event, reads, newId) => {
    const platformNews = newsOfPlatform(event);
    if (platformNews !== undefined)
      return await platformDeliveries(event, platformNews, reads, newId);
    if (isRotation(event) && event.data.groupId !== null) {
      return await groupRotationDeliveries(event, event.data.groupId, reads, newId);
    }
    const news =
      event.type === 'ErrorGroupReopened'
        ? await reopenedError(event, reads)
        : notifiableChange(event);
    if (news === undefined) return [];
    const { scriptId, runId, candidates, told } = news;
    const listeners = await reads.listeners(scriptId, event.recordedAt);
    if (listeners === undefined || (await isIgnoredFailure(event, reads))) return [];
    const { scriptName: name, groupId, rules } = listeners;
    const script = { scriptId, name, groupId };
    const commands: QueueDelivery[] = [];
    for (const rule of rules) {
      const on = await firstMatch(candidates, rule, event, reads);
      if (on === undefined) continue;
      const at = event.recordedAt.toISOString();
      commands.push(...deliveries(rule, { ...told, on, script, runId, at }, newId));
    }
    return commands;
  },
};

/** An ignored error group causes no notifications about its runs. */
async function isIgnoredFailure(event: Recorded, reads: ReactionReads): Promise<boolean> {
  if (event.type !== 'RunFinished' || event.data.error === undefined) return false;
  return (await reads.errorGroupOf(event.data.runId))?.isIgnored === true;
}

type PlatformNews = Pick<NotificationContent, 'level' | 'message' | 'about' | 'clears'> & {
  readonly on: NotifiableEvent;
};

/** Returns the notification about an event that belongs to neither a script nor a group. */
function newsOfPlatform(event: Recorded): PlatformNews | undefined {
  switch (event.type) {
    case 'AlarmRaised':
    case 'AlarmCleared': {
      const clears = event.type === 'AlarmCleared' && { clears: true as const };
      return { ...alarmMessage(event), about: `alarm ${event.data.name}`, ...clears };
    }
    case 'RepositoryFailureStarted':
    case 'RepositoryFailureEnded': {
      const clears = event.type === 'RepositoryFailureEnded' && { clears: true as const };
      const about = `repository ${event.data.repositoryId}`;
      return { ...repositoryNews(event), about, ...clears };
    }
    default:
      return undefined;
  }
}

/** Skips in-app channels, because the administrators' inbox already contains a notice about the event. */
async function platformDeliveries(
  { recordedAt }: Recorded,
  news: PlatformNews,
  reads: ReactionReads,
  newId: NewId,
): Promise<readonly QueueDelivery[]> {
  const told = { ...news, script: null, runId: null, at: recordedAt.toISOString() };
  const rules = await reads.platformListeners(recordedAt);
  return rules
    .filter((rule) => rule.on.includes(news.on))
    .flatMap((rule) => {
      const channels = rule.channels.filter(({ kind }) => kind !== 'in_app');
      return deliveries({ ...rule, channels }, told, newId);
    });
}

type RotationRecorded = Extract<Recorded, { type: RotationEvent['type'] }>;

function isRotation(event: Recorded): event is RotationRecorded {
  return event.type === 'SecretRotationDue' || event.type === 'SecretRotationCleared';
}

/** Creates deliveries about a group secret. Group secrets belong to no script. */
async function groupRotationDeliveries(
  event: RotationRecorded,
  groupId: GroupId,
  reads: ReactionReads,
  newId: NewId,
): Promise<readonly QueueDelivery[]> {
  const told = {
    ...rotationContent(event),
    script: null,
    groupId,
    runId: null,
    at: event.recordedAt.toISOString(),
  };
  const rules = await reads.groupListeners(groupId, event.recordedAt);
  return rules
    .filter((rule) => rule.on.includes(told.on))
    .flatMap((rule) => deliveries(rule, told, newId));
}

function rotationContent(event: RotationRecorded) {
  const { scriptId, groupId, name } = event.data;
  const about = `rotation ${scriptId ?? groupId} ${name}`;
  const clears = event.type === 'SecretRotationCleared' && { clears: true as const };
  return { ...rotationNews(event), about, ...clears };
}

interface NotifiableChange extends Pick<NotificationContent, 'runId'> {
  readonly scriptId: RunFinished['data']['scriptId'];
  /** The notification events that apply, most specific first. If a rule selects several of them, only the first is
   *  sent. */
  readonly candidates: readonly NotifiableEvent[];
  readonly told: Pick<NotificationContent, 'level' | 'message' | 'about' | 'clears' | 'changeId'>;
}

function notifiableChange(event: Recorded): NotifiableChange | undefined {
  switch (event.type) {
    case 'RunFinished': {
      const { runId, scriptId, outcome } = event.data;
      const isFailure = outcome !== 'success' && outcome !== 'stopped';
      const { level, candidates } = endings[isFailure ? 'failed' : outcome];
      const told = {
        level,
        message: describeOutcome(event.data),
        ...(outcome !== 'stopped' && { about: `runs ${scriptId}` }),
        ...(outcome === 'success' && { clears: true as const }),
      };
      return { runId, scriptId, candidates, told };
    }
    case 'OccurrencesPassed': {
      const { scriptId, occurrences } = event.data;
      const missed = occurrences.filter(({ outcome }) => outcome === 'missed');
      if (missed.length === 0) return undefined;
      const times =
        missed.length === 1 ? 'A scheduled run was' : `${missed.length} scheduled runs were`;
      const message = `${times} missed, most recently at ${missed.at(-1)?.dueAt}.`;
      return { runId: null, scriptId, candidates: ['missed'], told: { level: 'warning', message } };
    }
    case 'NoticePosted': {
      const { runId, scriptId, on, level, message } = event.data;
      // Skips notices that the platform posted, because the reported event itself already creates a delivery.
      if (on !== undefined || scriptId === null) return undefined;
      return { runId, scriptId, candidates: ['message'], told: { level, message } };
    }
    case 'ExpectationMissed':
    case 'ExpectationCleared': {
      const { runId, scriptId } = event.data;
      const { on, level, message } = expectationNews(event);
      const about = `${missedKey(event.data)} ${scriptId}`;
      const clears = event.type === 'ExpectationCleared' && { clears: true as const };
      return { runId, scriptId, candidates: [on], told: { level, message, about, ...clears } };
    }
    case 'SecretRotationDue':
    case 'SecretRotationCleared': {
      const { scriptId } = event.data;
      if (scriptId === null) return undefined;
      const { on, ...told } = rotationContent(event);
      return { runId: null, scriptId, candidates: [on], told };
    }
    default:
      return isApprovalEvent(event) ? approvalChange(event) : undefined;
  }
}

function approvalChange(event: ApprovalEvent): NotifiableChange {
  const { on, level, message, isRequest } = approvalNews(event);
  const { scriptId, runId, changeId } = approvalSubject(event);
  const told = {
    level,
    message,
    about: `approval ${changeId ?? runId}`,
    ...(changeId !== undefined && { changeId }),
    ...(!isRequest && { clears: true as const }),
  };
  return { runId, scriptId, candidates: [on], told };
}

/** Notifies about a resolved error that recurred. No notification is sent if a user reopened the error group. */
async function reopenedError(
  { data: { runId } }: Extract<Recorded, { type: 'ErrorGroupReopened' }>,
  reads: ReactionReads,
): Promise<NotifiableChange | undefined> {
  const scriptId = runId === null ? undefined : await reads.scriptOfRun(runId);
  if (scriptId === undefined) return undefined;
  const told = { level: 'error', message: 'A resolved error occurred again.' } as const;
  return { runId, scriptId, candidates: ['error_reopened'], told };
}

/** The notification events that apply to the end of a run, most specific first. */
const endings = {
  success: { level: 'info', candidates: ['recovered', 'success'] },
  failed: {
    level: 'error',
    candidates: ['error_first_seen', 'error_tenth_seen', 'failed_n_times', 'failed'],
  },
  stopped: { level: 'warning', candidates: ['stopped'] },
} as const;

async function firstMatch(
  candidates: readonly NotifiableEvent[],
  { on, failedTimes }: ListeningRule,
  event: Recorded,
  reads: ReactionReads,
): Promise<NotifiableEvent | undefined> {
  for (const one of candidates.filter((candidate) => on.includes(candidate))) {
    if (event.type !== 'RunFinished') return one;
    const { scriptId, runId } = event.data;
    if (one === 'recovered') {
      const [before] = await reads.endingsBefore(scriptId, runId, 1);
      if (before === 'failed') return one;
    } else if (one === 'failed_n_times') {
      const before = await reads.endingsBefore(scriptId, runId, failedTimes);
      const inARow = before.findIndex((ending) => ending === 'success');
      // Notifies only once, when the number of consecutive failures reaches the threshold.
      if ((inARow === -1 ? before.length : inARow) === failedTimes - 1) return one;
    } else if (one === 'error_first_seen' || one === 'error_tenth_seen') {
      const wanted = one === 'error_first_seen' ? 1 : 10;
      if ((await reads.errorOccurrences(runId, wanted + 1)) === wanted) return one;
    } else return one;
  }
  return undefined;
}

function deliveries(
  rule: ListeningRule,
  told: NotificationContent,
  newId: NewId,
): readonly QueueDelivery[] {
  return rule.channels.map(({ channelId, kind }) => ({
    type: 'QueueDelivery',
    deliveryId: mustParse(parseDeliveryId, newId(`${rule.ruleId} ${channelId}`)),
    channelId,
    kind,
    ruleId: rule.ruleId,
    told,
  }));
}
