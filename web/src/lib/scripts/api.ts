import { readApiError } from '#lib/api/api-error.ts';
import { client, sendAuthorized, unwrap, unwrapWithEtag } from '#lib/api/client.ts';
import { preferences } from '#lib/preferences/preferences.svelte.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { components } from '#lib/api/schema.d.ts';
import type {
  Environment,
  FileEntry,
  Group,
  NotifiableEvent,
  ListedScript,
  Page,
  Script,
  ScriptDiff,
  ScriptEnvironment,
  Template,
} from '#lib/api/types.ts';
import type { ScriptFilter } from './query.ts';

/** The script fields that the dashboard can change with a merge patch (RFC 7396). */
export type ScriptPatch = components['schemas']['ScriptChanges'];

type CheckedExpectations = components['schemas']['CheckedExpectations'];

/** A script with the `ETag` that the next update needs. */
export interface VersionedScript {
  script: Script;
  etag: string | null;
}

/** Lists deleted scripts that can be restored. */
export function listDeletedScripts(cursor: string | null): Promise<Page<ListedScript>> {
  const query = { deleted: true, limit: 100, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/scripts', { params: { query } }));
}

const noScript = '00000000-0000-7000-8000-000000000000';

/** Lists scripts with their latest runs. */
export function listScripts(
  filter: ScriptFilter,
  cursor: string | null,
): Promise<Page<ListedScript>> {
  const { enabled, favorites, ...rest } = filter;
  const query = {
    limit: 100,
    with: 'activity',
    ...rest,
    // If the user has no favorites, this ID matches no script.
    ...(favorites && { ids: preferences.looks.favorites.slice(0, 100).join(',') || noScript }),
    ...(enabled && { enabled: enabled === 'true' }),
    ...(cursor && { cursor }),
  } as const;
  return unwrap(client.GET('/api/v1/scripts', { params: { query } }));
}

/** Returns the given scripts with their latest runs, at most 100. */
export function listScriptsOf(
  ids: readonly string[],
  cursor: string | null,
): Promise<Page<ListedScript>> {
  const query = {
    limit: 100,
    with: 'activity',
    ids: ids.slice(0, 100).join(','),
    ...(cursor && { cursor }),
  } as const;
  return unwrap(client.GET('/api/v1/scripts', { params: { query } }));
}

/** Returns the scripts whose names contain a text, newest first. */
export async function findScripts(q: string, limit: number): Promise<Script[]> {
  const query = { limit, ...(q && { q }) };
  return (await unwrap(client.GET('/api/v1/scripts', { params: { query } }))).items;
}

export async function getScript(id: string): Promise<VersionedScript> {
  const answer = await unwrapWithEtag(
    client.GET('/api/v1/scripts/{id}', { params: { path: { id } } }),
  );
  return { script: answer.data, etag: answer.etag };
}

/** @param body.template the ID of a template; without a template, the script gets a runnable main.py */
export function createScript(body: {
  name: string;
  group_id?: string;
  template?: Template['id'];
}): Promise<Script> {
  const header = { 'Idempotency-Key': randomKey() };
  return unwrap(client.POST('/api/v1/scripts', { params: { header }, body }));
}

export async function listTemplates(): Promise<Template[]> {
  return (await unwrap(client.GET('/api/v1/templates', {}))).items;
}

/** Creates a script from a zip archive.
 *  @throws ApiError if the archive is refused, in which case no script is created */
export async function importScript(
  archive: Blob,
  wanted: { name: string; group_id?: string },
): Promise<Script> {
  const headers = { 'content-type': 'application/zip', 'idempotency-key': randomKey() };
  const path = `/api/v1/scripts/import?${new URLSearchParams(wanted)}`;
  const response = await sendAuthorized(
    () => new Request(path, { method: 'POST', headers, body: archive }),
  );
  if (!response.ok) throw await readApiError(response);
  return (await response.json()) as Script;
}

/** Downloads the script's files as a zip archive. */
export async function exportScript(id: string): Promise<Blob> {
  const response = await sendAuthorized(new Request(`/api/v1/scripts/${id}/export`));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}

export function copyScript(id: string, name: string): Promise<Script> {
  const params = { path: { id }, header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/scripts/{id}/copy', { params, body: { name } }));
}

/** Returns the script's expectations, each with the result of its last check. */
export async function listExpectations(id: string): Promise<CheckedExpectations['items']> {
  const params = { path: { id } };
  return (await unwrap(client.GET('/api/v1/scripts/{id}/expectations', { params }))).items;
}

/** Changes settings of a script. @throws ApiError 412 if the script has changed since the version in `etag` */
export async function patchScript(
  id: string,
  patch: ScriptPatch,
  etag: string | null,
): Promise<VersionedScript> {
  const answer = await unwrapWithEtag(
    client.PATCH('/api/v1/scripts/{id}', {
      params: { path: { id }, header: etag ? { 'If-Match': etag } : {} },
      body: patch,
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
  // The body is a script, because `unwrapWithEtag` throws if the change requires approval.
  return { script: answer.data as Script, etag: answer.etag };
}

export async function deleteScript(id: string): Promise<void> {
  await unwrap(client.DELETE('/api/v1/scripts/{id}', { params: { path: { id } } }));
}

/** Restores a deleted script. */
export async function undeleteScript(id: string): Promise<void> {
  await unwrap(client.POST('/api/v1/scripts/{id}/undelete', { params: { path: { id } } }));
}

/** Permanently removes the data of a deleted script. The purge runs in the background. */
export async function purgeScript(id: string): Promise<void> {
  await unwrap(client.POST('/api/v1/scripts/{id}/purge', { params: { path: { id } } }));
}

/** Enables or disables a script. The endpoint is separate, because this change requires its own right. */
export function setEnabled(id: string, enabled: boolean): Promise<Script> {
  const params = { path: { id } };
  return unwrap(
    enabled
      ? client.POST('/api/v1/scripts/{id}/enable', { params })
      : client.POST('/api/v1/scripts/{id}/disable', { params }),
  );
}

/** Returns the script's history, newest first. */
export function scriptHistory(id: string, cursor: string | null): Promise<Page<NotifiableEvent>> {
  const params = { path: { id }, query: { limit: 100, ...(cursor && { cursor }) } };
  return unwrap(client.GET('/api/v1/scripts/{id}/history', { params }));
}

/** Returns the packages that runs of the latest version use. */
export function scriptEnvironment(id: string): Promise<ScriptEnvironment> {
  return unwrap(client.GET('/api/v1/scripts/{id}/environment', { params: { path: { id } } }));
}

/** Makes the next run resolve the packages again. */
export async function rebuildEnvironment(id: string): Promise<void> {
  const params = { path: { id }, header: { 'Idempotency-Key': randomKey() } };
  await unwrap(client.POST('/api/v1/scripts/{id}/environment/rebuild', { params }));
}

/** Lists all files, from all pages. */
export async function listFiles(id: string): Promise<FileEntry[]> {
  const files: FileEntry[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: 200, ...(cursor && { cursor }) };
    const params = { path: { id }, query };
    const page: Page<FileEntry> = await unwrap(
      client.GET('/api/v1/scripts/{id}/files', { params }),
    );
    files.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return files;
}

export async function listGroups(): Promise<Group[]> {
  const page = await unwrap(client.GET('/api/v1/groups', { params: { query: { limit: 200 } } }));
  return page.items;
}

/** Returns the packages that runs of a version use. */
export function getEnvironment(id: string, version: number): Promise<Environment> {
  const params = { path: { id }, query: { version } };
  return unwrap(client.GET('/api/v1/scripts/{id}/environment', { params }));
}

/** Creates a new version with the files of an earlier version.
 *  @throws ApiError 412 if the script is no longer at version `current`; ApprovalRequested if the script is
 *  protected */
export async function restoreVersion(
  id: string,
  version: number,
  current: number,
): Promise<Script> {
  const header = { 'If-Match': `"${current}"` };
  const params = { path: { id }, header };
  const call = client.POST('/api/v1/scripts/{id}/restore', { params, body: { version } });
  return (await unwrap(call)) as Script;
}

/** Returns the differences between two script versions, limited to the first 200 files. */
export function scriptDiff(id: string, from: number, to: number): Promise<ScriptDiff> {
  const params = { path: { id }, query: { from, to, limit: 200 } };
  return unwrap(client.GET('/api/v1/scripts/{id}/diff', { params }));
}
