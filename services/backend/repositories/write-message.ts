/** The author and message of a commit with local changes. */
import type { Actor } from '#domain/kernel/actor.ts';
import type { GitChange } from '#domain/ports/git.ts';
import { actorName } from '#projections/actors.ts';
import { findUser } from '#projections/users/queries.ts';
import type { Services } from '../services.ts';
import type { Edits } from './edits.ts';

/** The changes of one script in a commit. */
export interface Part {
  readonly edit: Edits;
  /** The changed files and fields. */
  readonly changed: readonly string[];
}

type Author = GitChange['author'];

const maxChanged = 20;

/** The author of the last change becomes the commit's author. The message names the other authors, the last event
 *  and the version of each script. */
export async function changeOf(
  parts: readonly Part[],
  { readModels }: Services,
): Promise<Omit<GitChange, 'files'>> {
  const events = parts
    .flatMap(({ edit }) => edit.events)
    .toSorted((one, other) => one.recordedAt.getTime() - other.recordedAt.getTime());
  const last = events.at(-1);
  if (last === undefined) throw new Error('a change has no event');
  const authors = new Map<string, Author>();
  for (const { metadata } of events.toReversed()) {
    const author = await authorOf(metadata.actor, readModels);
    if (!authors.has(author.email)) authors.set(author.email, author);
  }
  const [author = { name: '', email: '' }, ...others] = authors.values();
  const lines = [
    parts.length === 1 ? `Change ${parts[0]?.edit.source.path}` : `Change ${parts.length} scripts`,
    '',
    ...parts.map(({ edit, changed }) => `${edit.source.path}: ${listed(changed)}`),
    '',
    ...parts.flatMap(({ edit: { scriptId, version, events: own } }) => [
      `Orchestrator-Script: ${scriptId} ${version}`,
      `Orchestrator-Event: ${own.at(-1)?.eventId}`,
    ]),
    ...others.map(({ name, email }) => `Co-authored-by: ${name} <${email}>`),
  ];
  return { author, at: last.recordedAt, message: `${lines.join('\n')}\n` };
}

/** The IDs of the events that the commit messages name. Version numbers are ambiguous, because the same version may
 *  contain different changes after a restore or in another installation. */
export function pushedEvents(messages: readonly string[]): ReadonlySet<string> {
  const named = messages.flatMap((message) => [
    ...message.matchAll(/^Orchestrator-Event: (\S+)$/gm),
  ]);
  return new Set(named.map(([, id = '']) => id));
}

/** The version of the last pushed change; 0 if no change was pushed. */
export function pushedVersion({ events }: Edits, pushed: ReadonlySet<string>): number {
  const last = events.findLast(({ eventId }) => pushed.has(eventId));
  return last !== undefined && 'version' in last.data ? last.data.version : 0;
}

function listed(changed: readonly string[]): string {
  const shown = changed.slice(0, maxChanged).map((one) => one.replaceAll(/\p{Cc}/gu, ' '));
  const omitted = changed.length - shown.length;
  return `${shown.join(', ')}${omitted > 0 ? ` and ${omitted} more` : ''}`;
}

async function authorOf(actor: Actor, readModels: Services['readModels']): Promise<Author> {
  if (actor.kind !== 'user') return { name: actorName(actor), email: 'orchestrator@localhost' };
  const user = await findUser(readModels, actor.userId);
  return { name: oneLine(user?.name ?? '') || actor.email, email: oneLine(actor.email) };
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}<>]/gu, ' ').trim();
}
