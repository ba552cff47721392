/** `ETag`, `If-Match` and `If-None-Match` (RFC 9110 §13). */
import { problem, type Problem } from './problem.ts';

export function etag(version: string | number): string {
  return `"${version}"`;
}

/** The tags in an `If-Match` header; `undefined` if the header is missing or is `*`, which matches any state. */
export function tagsOf(ifMatch: string | undefined): readonly string[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').map((tag) =>
    tag
      .trim()
      .replace(/^W\//, '')
      .replace(/^"(.*)"$/, '$1'),
  );
}

/** Parses the version in an `If-Match` header. The command's decision compares it with the current version.
 *  @returns the number, `undefined` without a condition, or the problem with a tag that never matches */
export function versionOf(ifMatch: string | undefined): { version?: number } | Problem {
  const tags = tagsOf(ifMatch);
  if (tags === undefined) return {};
  const [tag] = tags;
  if (tags.length === 1 && tag !== undefined && /^\d{1,9}$/.test(tag)) {
    return { version: Number(tag) };
  }
  return mismatch;
}

export const mismatch: Problem = problem(
  'version_mismatch',
  'If-Match must contain exactly one ETag of this resource.',
);

/** Whether `If-None-Match` shows that the client has the current state. */
export function isUnchanged(ifNoneMatch: string | undefined, current: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || (tagsOf(ifNoneMatch)?.includes(current) ?? false);
}
