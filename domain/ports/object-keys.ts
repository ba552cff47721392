import type { Brand } from '../kernel/brand.ts';

/** The layout of object store keys (specification, "Object store layout").
 *
 *  scripts/{script_id}/blobs/{sha256}    file contents of all versions, by hash, immutable
 *  runs/{run_id}/artifacts/{path}        artifacts that a run saved
 *  runs/{run_id}/blobs/{sha256}          parameters and webhook bodies, by hash
 *  backups/{backup_id}/{path}, templates/{template_id}/{path}, system/{path}
 *
 *  Events and manifests contain keys permanently, so a key that was once valid must remain valid. */

/** A key that `parseObjectKey` or `objectKey` has validated. */
export type ObjectKey = Brand<string, 'ObjectKey'>;

export const MAX_OBJECT_KEY_BYTES = 1024;
// The longest file name that common file systems allow. The object store can be a folder.
const MAX_PART_BYTES = 255;
const ROOTS: readonly string[] = ['scripts', 'runs', 'backups', 'templates', 'system'];
// Control characters are unsafe in listings and headers. Some systems treat a backslash as a separator.
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f\\]/;
const SHA256 = /^[0-9a-f]{64}$/;

/** A key is invalid. The caller should have rejected the input earlier. */
export class InvalidObjectKey extends Error {
  override readonly name = 'InvalidObjectKey';
}

function problemWith(text: string): string | undefined {
  const encoder = new TextEncoder();
  if (encoder.encode(text).length > MAX_OBJECT_KEY_BYTES) return 'is longer than 1024 bytes';
  if (!text.isWellFormed()) return 'is not well-formed Unicode';
  if (FORBIDDEN.test(text)) return 'contains a control character or a backslash';
  const parts = text.split('/');
  if (!ROOTS.includes(parts[0] ?? '')) return `does not start with one of ${ROOTS.join(', ')}`;
  if (parts.length < 2) return 'does not name an object';
  for (const part of parts) {
    if (part === '' || part === '.' || part === '..') return 'has an empty, "." or ".." segment';
    if (encoder.encode(part).length > MAX_PART_BYTES) return 'has a segment longer than 255 bytes';
  }
  return undefined;
}

/** Parses a key. Returns `undefined` if the key does not follow the layout. */
export function parseObjectKey(text: string): ObjectKey | undefined {
  return problemWith(text) === undefined ? (text as ObjectKey) : undefined;
}

function build(...parts: readonly string[]): ObjectKey {
  const text = parts.join('/');
  const problem = problemWith(text);
  if (problem !== undefined) throw new InvalidObjectKey(`${JSON.stringify(text)} ${problem}`);
  return text as ObjectKey;
}

// Checks that an ID is a single path segment. Otherwise, the key could point into the folder of another resource.
function id(text: string): string {
  if (text.includes('/')) throw new InvalidObjectKey(`${JSON.stringify(text)} is not an ID`);
  return text;
}

function hash(text: string): string {
  if (!SHA256.test(text)) throw new InvalidObjectKey(`${JSON.stringify(text)} is not a SHA-256`);
  return text;
}

/** Functions that build every key that the platform uses.
 *  @throws InvalidObjectKey if the arguments do not form a valid key */
export const objectKey = {
  scriptBlob: (scriptId: string, sha256: string): ObjectKey =>
    build('scripts', id(scriptId), 'blobs', hash(sha256)),
  runBlob: (runId: string, sha256: string): ObjectKey =>
    build('runs', id(runId), 'blobs', hash(sha256)),
  runArtifact: (runId: string, path: string): ObjectKey =>
    build('runs', id(runId), 'artifacts', path),
  backup: (backupId: string, path: string): ObjectKey => build('backups', id(backupId), path),
  template: (templateId: string, path: string): ObjectKey =>
    build('templates', id(templateId), path),
  system: (path: string): ObjectKey => build('system', path),
};

/** Functions that return the key prefix of each kind of resource.
 *  @throws InvalidObjectKey if an ID is invalid */
export const objectPrefix = {
  script: (scriptId: string): string => `scripts/${id(scriptId)}/`,
  run: (runId: string): string => `runs/${id(runId)}/`,
  runArtifacts: (runId: string): string => `runs/${id(runId)}/artifacts/`,
};

/** Returns the SHA-256 (hex) of a blob's content. Returns `undefined` if the key does not belong to a blob. */
export function contentHashOf(key: ObjectKey): string | undefined {
  const [root, , folder, name, ...rest] = key.split('/');
  const isBlob = (root === 'scripts' || root === 'runs') && folder === 'blobs' && rest.length === 0;
  return isBlob && name !== undefined && SHA256.test(name) ? name : undefined;
}
