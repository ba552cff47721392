import { readApiError } from '#lib/api/api-error.ts';
import { client, sendAuthorized, unwrap, unwrapWithEtag } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { components } from '#lib/api/schema.d.ts';
import type {
  Environment,
  FileEntry,
  Group,
  Happening,
  ListedScript,
  Page,
  Script,
  ScriptDiff,
  ScriptEnvironment,
  Template,
} from '#lib/api/types.ts';
import type { ScriptFilter } from './query.ts';

/** What a merge patch of a script may change here (RFC 7396). */
export type ScriptPatch = components['schemas']['ScriptChanges'];

/** A script with the `ETag` to send back on a write. */
export interface VersionedScript {
  script: Script;
  etag: string | null;
}

/** With what they have done lately. */
export function listScripts(
  filter: ScriptFilter,
  cursor: string | null,
): Promise<Page<ListedScript>> {
  const { enabled, ...rest } = filter;
  const query = {
    limit: 100,
    with: 'activity',
    ...rest,
    ...(enabled && { enabled: enabled === 'true' }),
    ...(cursor && { cursor }),
  } as const;
  return unwrap(client.GET('/api/v1/scripts', { params: { query } }));
}

/** Scripts whose name has this part, newest first. */
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

/** @param body.template the id of one; without it, a main.py that runs */
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

/** Makes a script of a zip archive.
 *  @throws ApiError when it holds what is refused; then nothing was made */
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

/** The files as a zip archive. */
export async function exportScript(id: string): Promise<Blob> {
  const response = await sendAuthorized(new Request(`/api/v1/scripts/${id}/export`));
  if (!response.ok) throw await readApiError(response);
  return response.blob();
}

export function copyScript(id: string, name: string): Promise<Script> {
  const params = { path: { id }, header: { 'Idempotency-Key': randomKey() } };
  return unwrap(client.POST('/api/v1/scripts/{id}/copy', { params, body: { name } }));
}

/** Changes settings.
 *  @throws ApiError 412 when the script is not at `etag` any more */
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
  return { script: answer.data, etag: answer.etag };
}

export async function deleteScript(id: string): Promise<void> {
  await unwrap(client.DELETE('/api/v1/scripts/{id}', { params: { path: { id } } }));
}

/** Brings a deleted script back, as it was. */
export async function undeleteScript(id: string): Promise<void> {
  await unwrap(client.POST('/api/v1/scripts/{id}/undelete', { params: { path: { id } } }));
}

/** Removes what is left of a deleted script, for good. It goes on in the background. */
export async function purgeScript(id: string): Promise<void> {
  await unwrap(client.POST('/api/v1/scripts/{id}/purge', { params: { path: { id } } }));
}

/** Enables or disables; a role of its own, so not part of the patch. */
export function setEnabled(id: string, enabled: boolean): Promise<Script> {
  const params = { path: { id } };
  return unwrap(
    enabled
      ? client.POST('/api/v1/scripts/{id}/enable', { params })
      : client.POST('/api/v1/scripts/{id}/disable', { params }),
  );
}

/** What happened to the script, newest first. */
export function scriptHistory(id: string, cursor: string | null): Promise<Page<Happening>> {
  const params = { path: { id }, query: { limit: 100, ...(cursor && { cursor }) } };
  return unwrap(client.GET('/api/v1/scripts/{id}/history', { params }));
}

/** The packages that runs of the newest version have. */
export function scriptEnvironment(id: string): Promise<ScriptEnvironment> {
  return unwrap(client.GET('/api/v1/scripts/{id}/environment', { params: { path: { id } } }));
}

/** Has the packages chosen anew at the next run. */
export async function rebuildEnvironment(id: string): Promise<void> {
  const params = { path: { id }, header: { 'Idempotency-Key': randomKey() } };
  await unwrap(client.POST('/api/v1/scripts/{id}/environment/rebuild', { params }));
}

/** All files, whatever number of pages they take. */
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

/** The packages that the runs of a version get. */
export function getEnvironment(id: string, version: number): Promise<Environment> {
  const params = { path: { id }, query: { version } };
  return unwrap(client.GET('/api/v1/scripts/{id}/environment', { params }));
}

/** Makes the files of an earlier version the newest version.
 *  @throws ApiError 412 when the script is no longer at `current` */
export function restoreVersion(id: string, version: number, current: number): Promise<Script> {
  const header = { 'If-Match': `"${current}"` };
  const params = { path: { id }, header };
  return unwrap(client.POST('/api/v1/scripts/{id}/restore', { params, body: { version } }));
}

/** What differs between two versions of a script: the first 200 files. */
export function scriptDiff(id: string, from: number, to: number): Promise<ScriptDiff> {
  const params = { path: { id }, query: { from, to, limit: 200 } };
  return unwrap(client.GET('/api/v1/scripts/{id}/diff', { params }));
}
